package conform

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"github.com/lakewarden/lakewarden/spec"
)

// cleaner runs the declared steps in their fixed order.
type cleaner []func(string) string

func newCleaner(steps []spec.Clean) cleaner {
	var c cleaner
	for _, step := range spec.CleanSteps {
		if slices.Contains(steps, step) {
			c = append(c, cleanSteps[step])
		}
	}
	return c
}

var cleanSteps = map[spec.Clean]func(string) string{
	spec.CleanFixEncoding:    fixEncoding,
	spec.CleanNFC:            norm.NFC.String,
	spec.CleanStripInvisible: stripInvisible,
	spec.CleanTrim:           trim,
	spec.CleanCollapseSpaces: collapseSpaces,
	spec.CleanUpper:          strings.ToUpper,
	spec.CleanLower:          strings.ToLower,
}

func (c cleaner) run(s string) string {
	for _, step := range c {
		s = step(s)
	}
	return s
}

// trim removes every Unicode White_Space character from both ends.
func trim(s string) string {
	if s == "" || (s[0] > ' ' && s[0] < utf8.RuneSelf && s[len(s)-1] > ' ' && s[len(s)-1] < utf8.RuneSelf) {
		return s
	}
	return strings.TrimFunc(s, unicode.IsSpace)
}

// collapseSpaces makes each run of white space one space.
func collapseSpaces(s string) string {
	var b strings.Builder
	in := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			if !in {
				b.WriteByte(' ')
			}
			in = true
			continue
		}
		in = false
		b.WriteRune(r)
	}
	return b.String()
}

// stripInvisible removes format and control characters, zero-width ones among
// them; tabs and line breaks stay.
func stripInvisible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// fixEncoding repairs text whose UTF-8 bytes were once read as Windows-1252:
// "JosÃ©" becomes "José". Where the bytes behind the text are not UTF-8, it was
// not broken that way and stays as it is. Text that was broken twice is repaired
// twice.
func fixEncoding(s string) string {
	for range 3 {
		fixed, ok := onceMore(s)
		if !ok {
			break
		}
		s = fixed
	}
	return s
}

func onceMore(s string) (string, bool) {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return s, false
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			if r > 0xff { // not a character that a byte was read as
				return s, false
			}
			b = byte(r)
		}
		out = append(out, b)
	}
	return string(out), utf8.Valid(out)
}
