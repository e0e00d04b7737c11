package storage

import (
	"context"
	"iter"
)

// Hooks run around every call of a store. Each may be nil. They are called from
// many goroutines at once.
type Hooks struct {
	// Before runs first. An error is the call's result and the inner store is
	// not called.
	Before func(context.Context, Op) error
	// After runs when the inner call has ended; Op.Err is its outcome. An error
	// replaces that outcome: returned after a success it plays an answer that
	// was lost. It cannot turn a failure into a success.
	After func(context.Context, Op) error
}

// Hook wraps s so that h runs around every call.
func Hook(s Store, h Hooks) Store { return &hooked{inner: s, h: h} }

type hooked struct {
	inner Store
	h     Hooks
}

func (w *hooked) Unwrap() Store { return w.inner }
func (w *hooked) URL() string   { return w.inner.URL() }

func (w *hooked) before(ctx context.Context, op Op) error {
	if w.h.Before == nil {
		return nil
	}
	return w.h.Before(ctx, op)
}

// after is the outcome of a call that ended as op says.
func (w *hooked) after(ctx context.Context, op Op) error {
	if err := w.afterHook(ctx, op); err != nil {
		return err
	}
	return op.Err
}

func (w *hooked) afterHook(ctx context.Context, op Op) error {
	if w.h.After == nil {
		return nil
	}
	return w.h.After(ctx, op)
}

// around runs call between the hooks. call returns the bytes it moved.
func (w *hooked) around(ctx context.Context, op Op, call func() (int64, error)) error {
	if err := w.before(ctx, op); err != nil {
		return err
	}
	op.Bytes, op.Err = call()
	return w.after(ctx, op)
}

func (w *hooked) Open(ctx context.Context, key string) (Reader, error) {
	var r Reader
	err := w.around(ctx, Op{Kind: OpOpen, Key: key}, func() (n int64, err error) {
		r, err = w.inner.Open(ctx, key)
		return 0, err
	})
	if err != nil {
		if r != nil {
			_ = r.Close() // the caller never gets it; err says more
		}
		return nil, err
	}
	return &hookedReader{Reader: r, w: w, ctx: ctx, key: key}, nil
}

func (w *hooked) Stat(ctx context.Context, key string) (Info, error) {
	var info Info
	err := w.around(ctx, Op{Kind: OpStat, Key: key}, func() (n int64, err error) {
		info, err = w.inner.Stat(ctx, key)
		return 0, err
	})
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

func (w *hooked) Create(ctx context.Context, key string) (Writer, error) {
	var out Writer
	err := w.around(ctx, Op{Kind: OpCreate, Key: key}, func() (n int64, err error) {
		out, err = w.inner.Create(ctx, key)
		return 0, err
	})
	if err != nil {
		if out != nil {
			out.Abort()
		}
		return nil, err
	}
	return &hookedWriter{inner: out, w: w, ctx: ctx, key: key}, nil
}

func (w *hooked) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	n := int64(len(data))
	return w.around(ctx, Op{Kind: OpPutIfAbsent, Key: key, Bytes: n}, func() (int64, error) {
		return n, w.inner.PutIfAbsent(ctx, key, data)
	})
}

func (w *hooked) Put(ctx context.Context, key string, data []byte) error {
	n := int64(len(data))
	return w.around(ctx, Op{Kind: OpPut, Key: key, Bytes: n}, func() (int64, error) {
		return n, w.inner.Put(ctx, key, data)
	})
}

func (w *hooked) Delete(ctx context.Context, key string) error {
	return w.around(ctx, Op{Kind: OpDelete, Key: key}, func() (int64, error) {
		return 0, w.inner.Delete(ctx, key)
	})
}

func (w *hooked) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		op := Op{Kind: OpList, Key: prefix}
		if err := w.before(ctx, op); err != nil {
			yield(Info{}, err)
			return
		}
		for info, err := range w.inner.List(ctx, prefix, after) {
			if err == nil {
				err = w.before(ctx, Op{Kind: OpEntry, Key: info.Key})
			}
			if err != nil {
				op.Err = err
				break
			}
			op.Bytes++
			if !yield(info, nil) {
				_ = w.after(ctx, op) // the consumer has left: nobody to tell
				return
			}
		}
		if err := w.after(ctx, op); err != nil {
			yield(Info{}, err)
		}
	}
}

// hookedReader keeps the context of its Open: ReadAt has none of its own.
type hookedReader struct {
	Reader
	w   *hooked
	ctx context.Context
	key string
}

func (r *hookedReader) ReadAt(p []byte, off int64) (int, error) {
	op := Op{Kind: OpRead, Key: r.key, Bytes: int64(len(p))}
	if err := r.w.before(r.ctx, op); err != nil {
		return 0, err
	}
	n, err := r.Reader.ReadAt(p, off)
	op.Bytes, op.Err = int64(n), err
	if lost := r.w.afterHook(r.ctx, op); lost != nil {
		return 0, lost // with all bytes there, io.ReadFull would drop the error
	}
	return n, err
}

// hookedWriter keeps the context of its Create: Write has none of its own.
type hookedWriter struct {
	inner Writer
	w     *hooked
	ctx   context.Context
	key   string
}

func (o *hookedWriter) Write(p []byte) (int, error) {
	op := Op{Kind: OpWrite, Key: o.key, Bytes: int64(len(p))}
	if err := o.w.before(o.ctx, op); err != nil {
		return 0, err
	}
	n, err := o.inner.Write(p)
	op.Bytes, op.Err = int64(n), err
	return n, o.w.after(o.ctx, op)
}

func (o *hookedWriter) Commit(ctx context.Context) (Info, error) {
	var info Info
	err := o.w.around(ctx, Op{Kind: OpCommit, Key: o.key}, func() (n int64, err error) {
		info, err = o.inner.Commit(ctx)
		return info.Size, err
	})
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

func (o *hookedWriter) Abort() { o.inner.Abort() }
