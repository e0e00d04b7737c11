package scan

import "errors"

// Panicked says whether an error is a panic that was caught.
func Panicked(err error) bool {
	var p *panicError
	return errors.As(err, &p)
}

// LimitLeafBytes bounds what one column of a batch may take.
func LimitLeafBytes(opt *Options, n int) { opt.leafBytes = n }

// JulianToGregorian is exported for tests.
var JulianToGregorian = julianToGregorian
