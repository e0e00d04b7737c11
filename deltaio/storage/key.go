package storage

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// tempPrefix starts the name of every unfinished write that a store keeps
// beside its objects. Keys with such a segment are refused everywhere, so that
// no object can be hidden from a listing and none is swept by mistake.
const tempPrefix = ".lakewarden-tmp-"

// CheckKey tells whether key may name an object; the error is ErrInvalidKey and
// says why not.
func CheckKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: it is empty", ErrInvalidKey)
	}
	if err := checkText(key); err != nil {
		return err
	}
	for seg := range strings.SplitSeq(key, "/") {
		if err := checkSegment(key, seg); err != nil {
			return err
		}
	}
	return nil
}

// checkPrefix allows what can begin a key: the last segment may be cut anywhere.
func checkPrefix(prefix string) error {
	if err := checkText(prefix); err != nil {
		return err
	}
	cut := strings.LastIndexByte(prefix, '/')
	if cut < 0 {
		return nil
	}
	return CheckKey(prefix[:cut])
}

func checkText(key string) error {
	switch {
	case !utf8.ValidString(key):
		return fmt.Errorf("%w: %q is not UTF-8", ErrInvalidKey, key)
	case strings.IndexByte(key, 0) >= 0:
		return fmt.Errorf("%w: %q holds a NUL", ErrInvalidKey, key)
	}
	return nil
}

func checkSegment(key, seg string) error {
	switch {
	case seg == "":
		return fmt.Errorf("%w: %q has an empty segment (a slash at an end, or two in a row)", ErrInvalidKey, key)
	case seg == ".", seg == "..":
		return fmt.Errorf("%w: %q has the segment %q", ErrInvalidKey, key, seg)
	case strings.HasPrefix(seg, tempPrefix):
		return fmt.Errorf("%w: %q: names starting with %s are reserved for unfinished writes", ErrInvalidKey, key, tempPrefix)
	}
	return nil
}

// mayHold tells whether the directory dir (ending in "/") can hold keys that
// start with prefix and are greater than after.
func mayHold(dir, prefix, after string) bool {
	if !strings.HasPrefix(dir, prefix) && !strings.HasPrefix(prefix, dir) {
		return false
	}
	return dir > after || strings.HasPrefix(after, dir)
}

// isTempKey tells whether key names an unfinished write.
func isTempKey(key string) bool {
	dir, name := path.Split(key)
	return strings.HasPrefix(name, tempPrefix) && (dir == "" || CheckKey(strings.TrimSuffix(dir, "/")) == nil)
}
