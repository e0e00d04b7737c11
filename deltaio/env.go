package deltaio

import (
	"errors"
	"runtime"
	"time"

	"github.com/google/uuid"
)

// Env is what an operation needs from its surroundings.
type Env struct {
	// Now is the caller's clock. Required.
	Now func() time.Time
	// Progress is told how far a long operation is; calls come one at a time per
	// operation. Nil: nobody listens.
	Progress func(Progress)
	// Parallel bounds the files in flight. 0: the number of CPUs, at most 8.
	Parallel int
	// Engine goes into commitInfo.engineInfo. "": "lakewarden".
	Engine string
	// NewID makes the unique part of file names and transaction ids. Nil: random
	// UUIDs.
	NewID func() string
}

// Progress is how far an operation is. Totals are 0 while unknown.
type Progress struct {
	Phase                 string
	FilesDone, FilesTotal int
	RowsDone              int64
	BytesDone, BytesTotal int64
}

func (e Env) withDefaults() (Env, error) {
	if e.Now == nil {
		return e, errors.New("deltaio: Env.Now is required: pass the caller's clock")
	}
	if e.Progress == nil {
		e.Progress = func(Progress) {}
	}
	if e.Parallel <= 0 {
		e.Parallel = min(runtime.GOMAXPROCS(0), 8)
	}
	if e.Engine == "" {
		e.Engine = "lakewarden"
	}
	if e.NewID == nil {
		e.NewID = uuid.NewString
	}
	return e, nil
}

func (e Env) nowMillis() int64 { return e.Now().UnixMilli() }
