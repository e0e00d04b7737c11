package storage

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var memories atomic.Int64

// Memory is a Store in the process: for tests, dry runs and examples. It keeps
// the whole contract except durability.
type Memory struct {
	id int64

	mu      sync.RWMutex
	now     func() time.Time
	objects map[string]memObject
}

// memObject is immutable: a write replaces it, so open readers keep their bytes.
type memObject struct {
	data []byte
	mod  time.Time
}

// NewMemory makes an empty store with an address of its own.
func NewMemory() *Memory {
	return &Memory{id: memories.Add(1), now: time.Now, objects: map[string]memObject{}}
}

// SetClock replaces the store's clock, which dates objects as they are written.
func (m *Memory) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// SetModTime dates an object anew; ErrNotExist when it is not there.
func (m *Memory) SetModTime(key string, mod time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return m.fail("set time", key, ErrNotExist)
	}
	m.objects[key] = memObject{data: o.data, mod: mod}
	return nil
}

// URL is memory://N, N being the store's number in this process.
func (m *Memory) URL() string { return fmt.Sprintf("memory://%d", m.id) }

func (m *Memory) fail(op, key string, err error) error {
	return fmt.Errorf("%s: %s/%s: %w", op, m.URL(), key, err)
}

func (m *Memory) begin(ctx context.Context, op, key string) error {
	err := CheckKey(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return m.fail(op, key, err)
	}
	return nil
}

func (m *Memory) get(ctx context.Context, op, key string) (memObject, Info, error) {
	if err := m.begin(ctx, op, key); err != nil {
		return memObject{}, Info{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[key]
	if !ok {
		return memObject{}, Info{}, m.fail(op, key, ErrNotExist)
	}
	return o, o.info(key), nil
}

func (o memObject) info(key string) Info {
	return Info{Key: key, Size: int64(len(o.data)), ModTime: o.mod}
}

// Open reads the bytes that the key has now; later writes do not reach it.
func (m *Memory) Open(ctx context.Context, key string) (Reader, error) {
	o, info, err := m.get(ctx, OpOpen, key)
	if err != nil {
		return nil, err
	}
	return memReader{Reader: bytes.NewReader(o.data), info: info}, nil
}

// Stat looks one object up.
func (m *Memory) Stat(ctx context.Context, key string) (Info, error) {
	_, info, err := m.get(ctx, OpStat, key)
	return info, err
}

// Create collects an object in memory.
func (m *Memory) Create(ctx context.Context, key string) (Writer, error) {
	if err := m.begin(ctx, OpCreate, key); err != nil {
		return nil, err
	}
	return &memWriter{m: m, key: key}, nil
}

// PutIfAbsent copies data if the key is free.
func (m *Memory) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	_, err := m.put(ctx, OpPutIfAbsent, key, data, false)
	return err
}

// Put copies data.
func (m *Memory) Put(ctx context.Context, key string, data []byte) error {
	_, err := m.put(ctx, OpPut, key, data, true)
	return err
}

func (m *Memory) put(ctx context.Context, op, key string, data []byte, replace bool) (Info, error) {
	if err := m.begin(ctx, op, key); err != nil {
		return Info{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.objects[key]; taken && !replace {
		return Info{}, m.fail(op, key, ErrExist)
	}
	o := memObject{data: bytes.Clone(data), mod: m.now()}
	m.objects[key] = o
	return o.info(key), nil
}

// Delete removes one object.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := m.begin(ctx, OpDelete, key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; !ok {
		return m.fail(OpDelete, key, ErrNotExist)
	}
	delete(m.objects, key)
	return nil
}

// List yields what is there when the listing starts.
func (m *Memory) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, m.fail(OpList, prefix, err))
			return
		}
		for _, info := range m.matching(prefix, after) {
			if err := ctx.Err(); err != nil {
				yield(Info{}, m.fail(OpList, prefix, err))
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (m *Memory) matching(prefix, after string) []Info {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []Info
	for key, o := range m.objects {
		if strings.HasPrefix(key, prefix) && key > after {
			found = append(found, o.info(key))
		}
	}
	slices.SortFunc(found, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	return found
}

type memReader struct {
	*bytes.Reader
	info Info
}

func (r memReader) Info() Info   { return r.info }
func (r memReader) Close() error { return nil }

type memWriter struct {
	m    *Memory
	key  string
	buf  bytes.Buffer
	done bool
}

func (w *memWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, w.m.fail(OpWrite, w.key, errWriterClosed)
	}
	return w.buf.Write(p)
}

func (w *memWriter) Commit(ctx context.Context) (Info, error) {
	if w.done {
		return Info{}, w.m.fail(OpCommit, w.key, errWriterClosed)
	}
	w.done = true
	return w.m.put(ctx, OpCommit, w.key, w.buf.Bytes(), true)
}

func (w *memWriter) Abort() { w.done = true }
