package expr

import "unsafe"

// unsafeString views bytes as a string without a copy. The bytes of a batch do
// not change while an expression is evaluated.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
