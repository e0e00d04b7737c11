package deltaio

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
)

// RowChecksum is a checksum of a version's rows, whatever their order: equal
// tables have equal ones in every engine that follows the encoding of package
// rowtext.
type RowChecksum struct {
	Rows int64
	Sum  string // lowercase hex
}

// RowChecksumOptions bound what a checksum takes.
type RowChecksumOptions struct {
	// TempDir takes the sorted hashes that do not fit into memory, 32 bytes a row.
	// "": all are kept in memory.
	TempDir string
	// MaxInMemory is how many rows' hashes are kept before they go to TempDir.
	// 0: 4 million, which take 128 MiB.
	MaxInMemory int
}

// Checksum reads the snapshot's rows and digests them: SHA-256 of each row's
// text, sorted, as lowercase hex with a newline behind each, hashed again.
func (s *Snapshot) Checksum(ctx context.Context, opt RowChecksumOptions) (sum RowChecksum, err error) {
	d := &hashSorter{dir: opt.TempDir, limit: opt.MaxInMemory}
	if d.limit <= 0 {
		d.limit = 4 << 20
	}
	defer func() {
		if cerr := d.close(); err == nil && cerr != nil {
			err = fmt.Errorf("%s: checksum: %w", s.table.URL(), cerr)
		}
	}()
	enc := rowtext.New(s.schema)
	for rec, err := range s.Scan(ctx, ScanOptions{}) {
		if err != nil {
			return RowChecksum{}, err
		}
		err = enc.Rows(rec, func(_ int, text []byte) error { return d.add(sha256.Sum256(text)) })
		rec.Release()
		if err != nil {
			return RowChecksum{}, fmt.Errorf("%s: checksum: %w", s.table.URL(), err)
		}
	}
	text, err := d.sum()
	if err != nil {
		return RowChecksum{}, fmt.Errorf("%s: checksum: %w", s.table.URL(), err)
	}
	return RowChecksum{Rows: d.rows, Sum: text}, nil
}

type rowSum = [sha256.Size]byte

// hashSorter sorts any number of hashes: runs that fill the limit go to
// temporary files and are merged at the end.
type hashSorter struct {
	dir   string
	limit int
	rows  int64
	now   []rowSum
	runs  []*os.File
}

func (d *hashSorter) add(h rowSum) error {
	d.rows++
	d.now = append(d.now, h)
	if d.dir == "" || len(d.now) < d.limit {
		return nil
	}
	return d.spill()
}

func (d *hashSorter) sort() {
	slices.SortFunc(d.now, func(a, b rowSum) int { return bytes.Compare(a[:], b[:]) })
}

func (d *hashSorter) spill() error {
	d.sort()
	f, err := os.CreateTemp(d.dir, "lakewarden-checksum-*")
	if err != nil {
		return err
	}
	d.runs = append(d.runs, f)
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range d.now {
		if _, err := w.Write(d.now[i][:]); err != nil {
			return err
		}
	}
	d.now = d.now[:0]
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// sum merges the runs with what is left in memory.
func (d *hashSorter) sum() (string, error) {
	d.sort()
	sources := []*hashRun{{rest: d.now}}
	for _, f := range d.runs {
		sources = append(sources, &hashRun{file: bufio.NewReaderSize(f, 256<<10)})
	}
	for _, r := range sources {
		if err := r.next(); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	var line [2*sha256.Size + 1]byte
	line[2*sha256.Size] = '\n'
	for {
		var least *hashRun
		for _, r := range sources {
			if !r.done && (least == nil || bytes.Compare(r.head[:], least.head[:]) < 0) {
				least = r
			}
		}
		if least == nil {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		hex.Encode(line[:], least.head[:])
		h.Write(line[:])
		if err := least.next(); err != nil {
			return "", err
		}
	}
}

func (d *hashSorter) close() error {
	var first error
	for _, f := range d.runs {
		err := f.Close()
		if rerr := os.Remove(f.Name()); err == nil {
			err = rerr
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// hashRun is one sorted run, read from the front.
type hashRun struct {
	rest []rowSum
	file *bufio.Reader
	head rowSum
	done bool
}

func (r *hashRun) next() error {
	if r.file == nil {
		if r.done = len(r.rest) == 0; !r.done {
			r.head, r.rest = r.rest[0], r.rest[1:]
		}
		return nil
	}
	_, err := io.ReadFull(r.file, r.head[:])
	if err == io.EOF {
		r.done = true
		return nil
	}
	return err
}
