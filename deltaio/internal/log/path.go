package log

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DecodePath turns the path of a file action, a URI, into the storage key
// relative to the table's root. It decodes once. Absolute ones are refused with
// *AbsolutePathError; see ResolvePath.
func DecodePath(p string) (string, error) {
	if isAbsolute(p) {
		return "", &AbsolutePathError{p}
	}
	key, err := unescape(p)
	if err != nil {
		return "", err
	}
	return key, checkKey(p, key)
}

// ResolvePath is DecodePath that also accepts absolute paths that lie inside
// the table's root, given as the store's URL.
func ResolvePath(rootURL, p string) (string, error) {
	if !isAbsolute(p) {
		return DecodePath(p)
	}
	key, ok := within(rootURL, p)
	if !ok {
		return "", &AbsolutePathError{p}
	}
	return key, checkKey(p, key)
}

// checkKey refuses keys that could name anything but one object below the root.
func checkKey(p, key string) error {
	for seg := range strings.SplitSeq(key, "/") {
		if seg == "" || seg == "." || seg == ".." {
			return fmt.Errorf("path %q: segment %q is not allowed in a path of the log", p, seg)
		}
	}
	if strings.IndexByte(key, 0) >= 0 {
		return fmt.Errorf("path %q: holds a zero byte", p)
	}
	return nil
}

// isAbsolute recognises "/x" and "scheme:/x". A colon alone is none: file names
// may hold it.
func isAbsolute(p string) bool {
	if strings.HasPrefix(p, "/") {
		return true
	}
	scheme, _, ok := strings.Cut(p, ":/")
	if !ok || scheme == "" {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i]
		alpha := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alpha && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return true
}

// within gives the key of an absolute path under the root, when it lies there.
// Both are brought to one spelling first: s3a is s3, file:/x is file:///x.
func within(rootURL, p string) (string, bool) {
	root, ok1 := canonicalURL(rootURL)
	full, ok2 := canonicalURL(p)
	if !ok1 || !ok2 {
		return "", false
	}
	key, ok := strings.CutPrefix(full, strings.TrimRight(root, "/")+"/")
	return key, ok && key != ""
}

func canonicalURL(s string) (string, bool) {
	scheme, rest := "file", s
	if !strings.HasPrefix(s, "/") {
		var ok bool
		if scheme, rest, ok = strings.Cut(s, ":"); !ok {
			return "", false
		}
	}
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "s3a", "s3n":
		scheme = "s3"
	case "abfs":
		scheme = "abfss"
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, rest, _ = strings.Cut(after, "/")
		rest = "/" + rest
	}
	if scheme == "file" && strings.EqualFold(host, "localhost") {
		host = ""
	}
	path, err := unescape(rest)
	if err != nil || !strings.HasPrefix(path, "/") {
		return "", false
	}
	return scheme + "://" + strings.ToLower(host) + path, true
}

// unescape decodes %XX; all else stays, "+" too.
func unescape(p string) (string, error) {
	if strings.IndexByte(p, '%') < 0 {
		return p, nil
	}
	out, err := url.PathUnescape(p)
	if err != nil {
		return "", fmt.Errorf("path %q: %w", p, err)
	}
	return out, nil
}

// reconcilePath is the form of a path that reconciliation compares. A path that
// does not decode stands for itself; whoever reads its file will refuse it.
func reconcilePath(p string) string {
	if out, err := unescape(p); err == nil {
		return out
	}
	return p
}

// pathSafe are the ASCII characters besides letters and digits that
// java.net.URI, which Spark uses, leaves alone in a path.
const pathSafe = "-_.!~*'(),;:$&+=@/"

// EncodePath turns a storage key into the path of a file action, escaped as
// Spark does: "%" always, other ASCII where a URI demands it, letters of other
// scripts never.
func EncodePath(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); {
		r, size := utf8.DecodeRuneInString(key[i:])
		if keepInPath(r, size) {
			b.WriteString(key[i : i+size])
		} else {
			for j := i; j < i+size; j++ {
				b.WriteString(percent(key[j]))
			}
		}
		i += size
	}
	return b.String()
}

func keepInPath(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return false
	case r >= utf8.RuneSelf:
		return !unicode.IsControl(r) && !unicode.In(r, unicode.Z)
	}
	return alphanumeric(byte(r)) || strings.IndexByte(pathSafe, byte(r)) >= 0
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func percent(c byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[c>>4], digits[c&0xf]})
}

// NullPartition is the directory value that stands for null.
const NullPartition = "__HIVE_DEFAULT_PARTITION__"

// PartitionDir gives the Hive-style directory of a partition, such as
// "a=b/c=__HIVE_DEFAULT_PARTITION__", escaped as Spark does; it is a storage
// key, not yet a URI. "" without columns.
func PartitionDir(cols []string, values map[string]*string) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		v := NullPartition
		if p := values[c]; p != nil && *p != "" {
			v = hiveEscape(*p)
		}
		parts[i] = hiveEscape(c) + "=" + v
	}
	return strings.Join(parts, "/")
}

// hiveEscape is Spark's ExternalCatalogUtils.escapePathName.
func hiveEscape(s string) string {
	const special = "\"#%'*/:=?\\\x7f{[]^"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || strings.IndexByte(special, c) >= 0 {
			b.WriteString(percent(c))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
