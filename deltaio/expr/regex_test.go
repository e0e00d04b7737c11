package expr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJavaRegex_finds_what_java_finds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{`b`, "abc", true}, {`^b`, "abc", false}, {`c$`, "abc\n", true}, {`c$`, "abc\r\n", true}, {`c$`, "abc\u2028", true},
		{`c$`, "abc\n\n", false}, {`c\z`, "abc\n", false}, {`c\Z`, "abc\n", true}, {`^$`, "", true}, {`^$`, "\n", true},
		{`a.b`, "a\nb", false}, {`a.b`, "a\u0085b", false}, {`(?s)a.b`, "a\nb", true}, {`(?s:a.b)|x`, "a\nb", true},
		{`(?i)straße`, "STRAßE", true}, {`(?i)É`, "é", false}, {`(?i)k`, "\u212a", false}, {`k`, "K", false},
		{`(?i)a(?-i)b`, "AB", false}, {`(?i)a(?-i)b`, "Ab", true}, {`(?i:a)b`, "Ab", true}, {`((?i)a)b`, "AB", false}, {`a|(?i)b|c`, "C", true},
		{`[a-c]+`, "xbx", true}, {`[^a-c]`, "abc", false}, {`(?i)[a-c]`, "B", true}, {`(?i)[^a-c]`, "B", false}, {`[a\-z]`, "-", true}, {`[a-]`, "-", true}, {`[\d.]`, ".", true}, {`[^\s]`, " \t\v", false},
		{`a\sb`, "a\vb", true}, {`\S`, "\v\n\t ", false}, {`\W`, "é", true}, {`\w`, "é", false}, {`\D`, "1", false}, {`\h`, "\u00a0", true}, {`\v`, "\u2028", true},
		{`\p{Alpha}`, "é", false}, {`\p{L}`, "é", true}, {`\pL`, "é", true}, {`\P{L}`, "é", false}, {`\P{Alpha}`, "a", false}, {`\P{Alpha}`, "é", true}, {`\p{IsGreek}`, "α", true}, {`\p{script=Greek}`, "a", false}, {`[\p{Lu}\d]`, "É", true}, {`\p{Punct}`, "`", true},
		{`\x41\u0042\x{43}\0104`, "ABCD", true}, {`\cA`, "\x01", true}, {`\t\n\r\f\a\e`, "\t\n\r\f\a\x1b", true}, {`\.`, "a", false},
		{`\Qa.b\E+`, "a.bb", true}, {`\Qa.b`, "a.b", true}, {`\Qa.b\E`, "axb", false},
		{`(a|b){2}`, "ab", true}, {`^a{2,3}$`, "aaaa", false}, {`^a{2,}$`, "aaaa", true}, {`a+?b*?c??`, "a", true}, {`(?<year>\d{4})`, "2024", true}, {`(?:ab)+`, "ab", true},
		{`a$|b`, "a\n", true}, {`(a$)`, "a\n", true}, {`x(a|b$)`, "xb\n", true}, {`\bfoo\b`, "a foo b", true}, {`]}`, "]}", true}, {``, "", true}, {`a||b`, "x", true},
	} {
		re, err := compileJavaRegex(c.pattern)
		require.NoError(t, err, c.pattern)
		require.Equal(t, c.want, re.find([]byte(c.text)), "%s on %q", c.pattern, c.text)
	}
}

func TestJavaRegex_what_re2_cannot_say_is_refused(t *testing.T) {
	t.Parallel()
	for pattern, msg := range map[string]string{
		`(?=a)`: "look-ahead", `(?!a)`: "negative look-ahead", `(?<=a)`: "look-behind", `(?<!a)b`: "negative look-behind", `(?>a)`: "atomic",
		`(a)\1`: "back references", `(?<x>a)\k<x>`: "back references", `a++`: "possessive", `a{2}+`: "possessive",
		`[a&&b]`: "intersection", `[a[bc]]`: "inside a class", `[]a]`: "begins with ]", `[a`: "not closed", `(a`: "not closed", `a)`: "unmatched",
		`*a`: "nothing to repeat", `a**`: "nothing to repeat", `a|*`: "nothing to repeat", `^*`: "nothing to repeat", `a{x}`: "not a repetition", `a{1`: "not closed", `a{2000}`: "beyond RE2",
		`(?m)a`: "flag", `(?x)a`: "flag", `a$b`: "at the end", `(a$)+`: "at the end", `a$\n`: "at the end", `a$|b\z`: "at the end",
		`\G`: "not supported", `\R`: "not supported", `\X`: "not supported", `\y`: "not supported", `a\`: "ends with a backslash", `\p{Foo}`: "not supported", `\p{InGreek}`: "not supported",
		`(?i)\p{Lu}`: "under (?i)", `\x4`: "number of a character", `\uD800`: "number of a character", `[z-a]`: "not in order", `[\d-z]`: "", `(?<a b>x)`: "not a word",
	} {
		_, err := compileJavaRegex(pattern)
		if msg == "" {
			continue
		}
		require.ErrorContains(t, err, msg, pattern)
		require.ErrorContains(t, err, "RLIKE pattern", pattern)
	}
}

func FuzzJavaRegex(f *testing.F) {
	for _, p := range []string{`^a+$`, `[^\s&&x]`, `(?i)(a|b)*?\Z`, `\p{Alpha}\x{41}\Qx\E`, `[a-\d]`} {
		f.Add(p, "ab\n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if re, err := compileJavaRegex(pattern); err == nil {
			re.find([]byte(text))
		}
	})
}

func FuzzTimes(f *testing.F) {
	for _, s := range []string{"2024-01-31", "2024-1-6 3:4:5.123Z", "+294247-01-10 04:00:54.775808 UTC+18", "-0001-02-29T00:00:00 Europe/Lisbon"} {
		f.Add(s, "yyyy-MM-dd[ HH:mm:ss.SSSXXX]")
	}
	f.Fuzz(func(t *testing.T, text, pattern string) {
		zone := newZoneClock(region("Europe/Lisbon"))
		if day, ok := parseDate(text); ok {
			again, ok := parseDate(formatDate(int64(day)))
			require.True(t, ok)
			require.Equal(t, day, again)
		}
		if tt, ok := parseTimestamp(text); ok {
			zone.resolveTime(tt)
			again, ok := parseTimestamp(formatWall(tt.wall))
			require.True(t, ok)
			require.Equal(t, tt.wall, again.wall)
		}
		if p, err := compileDatePattern(pattern); err == nil {
			if tt, ok := p.parse(text); ok {
				zone.resolveTime(tt)
			}
		}
	})
}
