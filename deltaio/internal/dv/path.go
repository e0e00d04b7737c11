package dv

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

const (
	filePrefix = "deletion_vector_"
	fileSuffix = ".bin"
	uuidLength = 20 // of a UUID in Z85
)

// Key is the storage key of the file that holds the deletion vector; "" and
// false for an inline one. Files outside the root are refused with
// *log.AbsolutePathError.
func Key(rootURL string, d *log.DeletionVector) (key string, inFile bool, err error) {
	switch d.StorageType {
	case log.DVInline:
		return "", false, nil
	case log.DVRelative:
		key, err = relativeKey(d.PathOrInlineDv)
	case log.DVAbsolute:
		key, err = log.ResolvePath(rootURL, d.PathOrInlineDv)
	default:
		err = fmt.Errorf("storage type %q is not known", d.StorageType)
	}
	return key, err == nil, err
}

// relativeKey gives the key for "<prefix><UUID in Z85>".
func relativeKey(path string) (string, error) {
	cut := len(path) - uuidLength
	if cut < 0 {
		return "", fmt.Errorf("path %q is too short for a UUID", path)
	}
	raw, err := z85Decode(path[cut:])
	if err != nil {
		return "", err
	}
	id, err := uuid.FromBytes(raw)
	if err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	if err := checkPrefix(path[:cut]); err != nil {
		return "", err
	}
	return FileKey(path[:cut], id), nil
}

func checkPrefix(prefix string) error {
	if prefix == "." || prefix == ".." || strings.ContainsAny(prefix, "/\\\x00") {
		return fmt.Errorf("directory %q of a deletion vector file is not one plain name", prefix)
	}
	return nil
}

// FileKey names a new file for deletion vectors; prefix is a directory of one
// segment or "".
func FileKey(prefix string, id uuid.UUID) string {
	if prefix != "" {
		prefix += "/"
	}
	return prefix + filePrefix + id.String() + fileSuffix
}

// pathOfKey is the inverse of relativeKey.
func pathOfKey(key string) (string, error) {
	prefix, name := "", key
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		prefix, name = key[:i], key[i+1:]
	}
	text, ok1 := strings.CutPrefix(name, filePrefix)
	text, ok2 := strings.CutSuffix(text, fileSuffix)
	id, err := uuid.Parse(text)
	if !ok1 || !ok2 || err != nil || FileKey(prefix, id) != key {
		return "", fmt.Errorf("%q is no name of a deletion vector file: make it with FileKey", key)
	}
	if err := checkPrefix(prefix); err != nil {
		return "", err
	}
	return prefix + z85Encode(id[:]), nil
}
