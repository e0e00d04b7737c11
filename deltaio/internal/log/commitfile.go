package log

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const (
	// maxLine bounds one action: deletion vectors and statistics of wide tables
	// stay far below, a file that is no log at all does not.
	maxLine = 64 << 20
	// readAhead is how much of a commit is asked of the store at once.
	readAhead = 1 << 20
)

// errStop ends a scan early without being an error.
var errStop = errors.New("stop")

// scanLines reads an object of JSON lines front to back, never all of it at
// once. line must not keep its bytes. What the store says about the object is
// returned.
func scanLines(ctx context.Context, s storage.Store, key string, line func(n int, b []byte) error) (info storage.Info, err error) {
	r, err := s.Open(ctx, key)
	if err != nil {
		return info, err
	}
	defer func() {
		if cerr := r.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("%s: close: %w", key, cerr)
		}
	}()
	info = r.Info()
	br := bufio.NewReaderSize(io.NewSectionReader(r, 0, info.Size), int(min(info.Size+1, readAhead)))
	var read int64
	for n := 1; ; n++ {
		b, rerr := readLine(br)
		read += int64(len(b))
		if rerr != nil && rerr != io.EOF {
			return info, lineError(key, n, rerr)
		}
		if len(bytes.TrimSpace(b)) > 0 {
			if err := line(n, b); err == errStop {
				return info, nil
			} else if err != nil {
				return info, &CorruptError{Key: key, Reason: fmt.Sprintf("line %d", n), Err: err}
			}
		}
		if rerr == io.EOF {
			break
		}
		if err := ctx.Err(); err != nil {
			return info, err
		}
	}
	if read != info.Size {
		return info, fmt.Errorf("%s: read %d of %d bytes: %w", key, read, info.Size, io.ErrUnexpectedEOF)
	}
	return info, nil
}

var errLongLine = fmt.Errorf("longer than %d bytes", maxLine)

func lineError(key string, n int, err error) error {
	if errors.Is(err, errLongLine) {
		return &CorruptError{Key: key, Reason: fmt.Sprintf("line %d", n), Err: err}
	}
	return fmt.Errorf("%s: read: %w", key, err)
}

// readLine gives the next line with its line break; it is valid until the next
// call. io.EOF comes with the last line.
func readLine(br *bufio.Reader) ([]byte, error) {
	b, err := br.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return b, err
	}
	long := bytes.Clone(b)
	for err == bufio.ErrBufferFull {
		if len(long) > maxLine {
			return long, errLongLine
		}
		b, err = br.ReadSlice('\n')
		long = append(long, b...)
	}
	return long, err
}

// scanCommit decodes a commit, or a checkpoint in JSON. A file without any
// action is a torn write.
func scanCommit(ctx context.Context, s storage.Store, key string, d *decoder, each func([]Action) error) (storage.Info, error) {
	var buf []Action
	lines := 0
	info, err := scanLines(ctx, s, key, func(_ int, b []byte) error {
		lines++
		var err error
		if buf, err = d.line(buf[:0], b); err != nil {
			return err
		}
		return each(buf)
	})
	if err == nil && lines == 0 {
		err = &CorruptError{Key: key, Reason: "it is empty, a torn write"}
	}
	return info, err
}

// ReadCommit reads the actions of one version, in the order of its lines;
// storage.ErrNotExist when the log has no such commit.
func ReadCommit(ctx context.Context, s storage.Store, version int64) ([]Action, error) {
	actions, _, err := readCommit(ctx, s, version, &decoder{in: newInterner()})
	return actions, err
}

func readCommit(ctx context.Context, s storage.Store, version int64, d *decoder) ([]Action, storage.Info, error) {
	var actions []Action
	info, err := scanCommit(ctx, s, CommitKey(version), d, func(line []Action) error {
		actions = append(actions, line...)
		return nil
	})
	if err != nil {
		return nil, info, fmt.Errorf("read commit %d: %w", version, err)
	}
	return actions, info, nil
}

// inCommitTimestamp reads the time a commit carries in its commitInfo, which is
// the first action of one that must carry it.
func inCommitTimestamp(ctx context.Context, s storage.Store, version int64) (int64, error) {
	var ms int64
	found := false
	d := &decoder{in: newInterner()}
	_, err := scanCommit(ctx, s, CommitKey(version), d, func(line []Action) error {
		for i := range line {
			if info := line[i].CommitInfo; info != nil {
				ms, found = info.InCommitTimestamp()
				return errStop
			}
		}
		return nil
	})
	if err == nil && !found {
		err = &CorruptError{Key: CommitKey(version), Reason: "no inCommitTimestamp, which the table requires of each commit"}
	}
	return ms, err
}
