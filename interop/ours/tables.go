package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func openTable(ctx context.Context, dir string, e deltaio.Env) (*deltaio.Table, error) {
	s, err := storage.OpenLocal(dir)
	if err != nil {
		return nil, err
	}
	return deltaio.Open(ctx, s, e)
}

func openSnapshot(ctx context.Context, r *request) (*deltaio.Snapshot, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	if r.Version != nil {
		return t.SnapshotAt(ctx, *r.Version)
	}
	return t.Snapshot(ctx)
}

func createTable(ctx context.Context, r *request) (any, error) {
	columns, err := schema.Parse(string(r.Schema))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.Table, 0o755); err != nil {
		return nil, err
	}
	s, err := storage.OpenLocal(r.Table)
	if err != nil {
		return nil, err
	}
	_, err = deltaio.Create(ctx, s, env(), deltaio.CreateOptions{Schema: columns, PartitionBy: r.PartitionBy, Properties: r.Properties})
	return nil, err
}

func appendRows(ctx context.Context, r *request) (any, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	res, err := deltaio.Append(ctx, t, deltaio.AppendOptions{}, arrowFile(r.Arrow))
	if err != nil {
		return nil, err
	}
	return res.Version, nil
}

// arrowFile yields the batches of an Arrow IPC file.
func arrowFile(path string) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close() //nolint:errcheck // nothing was written
		in, err := ipc.NewFileReader(f)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", path, err))
			return
		}
		defer in.Close() //nolint:errcheck // it closes f, which was only read
		for i := range in.NumRecords() {
			rec, err := in.Record(i)
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// rowsRead are a version's rows as they were written to a file.
type rowsRead struct {
	Version int64    `json:"version"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"`
}

func readRows(ctx context.Context, r *request) (_ any, err error) {
	snap, err := openSnapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	columns, err := schema.ArrowSchema(snap.Schema())
	if err != nil {
		return nil, err
	}
	f, err := os.Create(r.Arrow)
	if err != nil {
		return nil, err
	}
	out, err := ipc.NewFileWriter(f, ipc.WithSchema(columns))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	defer func() { err = errors.Join(err, out.Close(), f.Close()) }()
	read := rowsRead{Version: snap.Version()}
	for _, c := range snap.Schema().Fields {
		read.Columns = append(read.Columns, c.Name)
	}
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{}) {
		if err != nil {
			return nil, err
		}
		read.Rows += rec.NumRows()
		err = out.Write(rec)
		rec.Release()
		if err != nil {
			return nil, err
		}
	}
	return read, nil
}

func addColumn(ctx context.Context, r *request) (any, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	res, err := deltaio.AddColumn(ctx, t, deltaio.AddColumnOptions{Name: r.Name, Type: schema.Primitive(r.Type)})
	return res.Version, err
}

// described is a version of a table with its schema and whether it may be written.
type described struct {
	*deltaio.TableDetail

	Schema json.RawMessage `json:"schema"`
}

func detail(ctx context.Context, r *request) (any, error) {
	snap, err := openSnapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	return described{snap.Detail(), json.RawMessage(snap.State().Metadata.SchemaString)}, nil
}

// entry is a commit without its actions.
type entry struct {
	Version   int64  `json:"version"`
	Operation string `json:"operation"`
	Engine    string `json:"engine"`
}

func history(ctx context.Context, r *request) (any, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	commits, err := deltaio.History(ctx, t, 0)
	if err != nil {
		return nil, err
	}
	out := make([]entry, len(commits))
	for i, c := range commits {
		out[i] = entry{c.Version, c.Operation, c.Engine}
	}
	return out, nil
}

func restoreVersion(ctx context.Context, r *request) (any, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	if r.Version == nil {
		return nil, errors.New("restore: which version?")
	}
	return deltaio.Restore(ctx, t, deltaio.RestoreOptions{Version: *r.Version})
}

func vacuum(ctx context.Context, r *request) (any, error) {
	e := env()
	e.Now = func() time.Time { return time.Now().Add(time.Duration(r.AheadHours * float64(time.Hour))) }
	t, err := openTable(ctx, r.Table, e)
	if err != nil {
		return nil, err
	}
	return deltaio.Vacuum(ctx, t, deltaio.VacuumOptions{
		Retention: time.Duration(r.Retention * float64(time.Hour)), Override: r.Override,
	})
}

func checkpoint(ctx context.Context, r *request) (any, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	return deltaio.Checkpoint(ctx, t)
}
