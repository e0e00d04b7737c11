// Package storage is what deltaio asks of an object store: a small interface,
// the stores that fulfil it, and wrappers that trace and fail.
//
// Keys are slash-separated, relative to the store's root, in plain UTF-8: never
// URI-escaped, never starting with "/", without "." or ".." segments. A store
// refuses any key that would leave its root (symbolic links included).
//
// What is NOT promised: renames, appends, directories, or that a listing sees
// an object whose write has not returned.
package storage

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors of a Store, wrapped with the key and the store's address.
var (
	// ErrNotExist: no object has the key.
	ErrNotExist = errors.New("object does not exist")
	// ErrExist: PutIfAbsent found an object under the key. It is exact: when it
	// is returned, the caller's bytes were not written.
	ErrExist = errors.New("object already exists")
	// ErrPermission: the credentials do not allow the call.
	ErrPermission = errors.New("permission denied")
	// ErrInvalidKey: the key is malformed or leads outside the root.
	ErrInvalidKey = errors.New("invalid key")
	// ErrNoSpace: the store is full. Retrying without freeing space is useless.
	ErrNoSpace = errors.New("no space left")
	// ErrUnsupported: the store lacks a power that the call needs.
	ErrUnsupported = errors.New("not supported by this store")
)

// Info describes an object.
type Info struct {
	Key     string
	Size    int64     // bytes
	ModTime time.Time // by the store's clock
}

// Store holds objects under one root. All methods are safe for concurrent use.
// Any error other than the sentinels above leaves it unknown whether a write
// happened: ask before retrying.
type Store interface {
	// URL is the root's address, without credentials.
	URL() string

	// Open reads an object by ranges. The Info is as of the open.
	Open(ctx context.Context, key string) (Reader, error)

	// Stat looks one object up: ErrNotExist when absent.
	Stat(ctx context.Context, key string) (Info, error)

	// Create starts writing an object of a name the caller made unique (data
	// files). Nothing is visible before Commit; after it the object is whole and
	// durable.
	Create(ctx context.Context, key string) (Writer, error)

	// PutIfAbsent writes a whole object if the key is free, atomically among all
	// writers, durable when it returns nil; ErrExist otherwise.
	PutIfAbsent(ctx context.Context, key string, data []byte) error

	// Put writes a whole object, replacing atomically what was there. For hints
	// and records of our own only, never for commits.
	Put(ctx context.Context, key string, data []byte) error

	// List yields the objects whose key starts with prefix and is greater than
	// after, in byte order of their keys, depth first through "/". Temporary
	// files of unfinished writes do not appear. An error ends the sequence.
	List(ctx context.Context, prefix, after string) iter.Seq2[Info, error]

	// Delete removes one object; ErrNotExist when it was not there. nil means
	// that it was there and a later Stat will not find it.
	Delete(ctx context.Context, key string) error
}

// Reader reads an object by ranges.
type Reader interface {
	io.ReaderAt
	io.Closer
	Info() Info
}

// Writer writes one object, front to back.
type Writer interface {
	io.Writer
	// Commit makes the object visible and durable. Info gives its size.
	Commit(ctx context.Context) (Info, error)
	// Abort drops what was written; after Commit it does nothing.
	Abort()
}

// ReadAll reads a whole object of at most limit bytes (limit <= 0: 1 GiB).
func ReadAll(ctx context.Context, s Store, key string, limit int64) ([]byte, error) {
	return readAll(ctx, s, key, limit)
}
