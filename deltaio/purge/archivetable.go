package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// ArchiveError: the archive cannot take the rows. Nothing was written.
type ArchiveError struct {
	Archive, Source string
	Column          string // "" when no single column is to blame
	Reason          string
	Do              string
}

func (e *ArchiveError) Error() string {
	s := fmt.Sprintf("archive %s cannot take rows of %s: ", e.Archive, e.Source)
	if e.Column != "" {
		s += "column " + e.Column + ": "
	}
	return s + e.Reason + "; " + e.Do
}

// archiveFit says how rows of a source go into an archive.
type archiveFit struct {
	exists     bool
	appendOnly bool
	create     deltaio.CreateOptions
	adds       []schema.Field
	// names gives the archive's spelling of each source column.
	names map[string]string
}

// CheckArchive says whether the archive under dst can take the rows of src,
// without writing anything: *ArchiveError when it cannot. column is the marker,
// which is not archived.
func CheckArchive(ctx context.Context, src *deltaio.Snapshot, dst storage.Store, env deltaio.Env, column string) (*ArchiveCheck, error) {
	fit, _, err := fitArchive(ctx, src, dst, env, column)
	if err != nil {
		return nil, err
	}
	out := &ArchiveCheck{Exists: fit.exists, AppendOnly: fit.appendOnly}
	for _, f := range fit.adds {
		out.Adds = append(out.Adds, f.Name)
	}
	return out, nil
}

// ensureArchive opens the archive, creates it when missing and adds missing
// columns.
func ensureArchive(ctx context.Context, src *deltaio.Snapshot, dst storage.Store, env deltaio.Env, r Run) (*deltaio.Table, *archiveFit, error) {
	for range 3 {
		fit, t, err := fitArchive(ctx, src, dst, env, r.Column)
		if err != nil {
			return nil, nil, err
		}
		if !fit.exists {
			_, err := deltaio.Create(ctx, dst, env, fit.create)
			if err != nil && !errors.Is(err, deltaio.ErrExists) {
				return nil, nil, fmt.Errorf("create archive: %w", err)
			}
			continue // look again: another run may have been first
		}
		for _, f := range fit.adds {
			if _, err := deltaio.AddColumn(ctx, t, deltaio.AddColumnOptions{Name: f.Name, Type: f.Type, Info: r.info(StepEvolve, "")}); err != nil {
				return nil, nil, fmt.Errorf("add column %s to the archive: %w", f.Name, err)
			}
		}
		if len(fit.adds) == 0 {
			return t, fit, nil
		}
	}
	return nil, nil, &ArchiveError{Archive: dst.URL(), Source: src.Table().URL(), Reason: "others keep changing its schema", Do: "try again"}
}

func fitArchive(ctx context.Context, src *deltaio.Snapshot, dst storage.Store, env deltaio.Env, column string) (*archiveFit, *deltaio.Table, error) {
	want, err := archiveSchema(src, dst, column)
	if err != nil {
		return nil, nil, err
	}
	t, err := deltaio.Open(ctx, dst, env)
	if errors.Is(err, deltaio.ErrNotATable) {
		fit := &archiveFit{create: createArchive(src, want)}
		return fit, nil, canCreate(ctx, src, dst, env, fit.create)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open archive: %w", err)
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open archive: %w", err)
	}
	if snap.TableID() == src.TableID() {
		return nil, nil, &ArchiveError{Archive: dst.URL(), Source: src.Table().URL(), Reason: "it is the table itself", Do: "choose another table as archive"}
	}
	if err := snap.Check(deltaio.WantAppend); err != nil {
		return nil, nil, fmt.Errorf("archive: %w", err)
	}
	fit, err := fitSchema(src, snap, want)
	return fit, t, err
}

// canCreate tries the archive in memory, so that what cannot be is refused before
// anything is written.
func canCreate(ctx context.Context, src *deltaio.Snapshot, dst storage.Store, env deltaio.Env, opt deltaio.CreateOptions) error {
	t, err := deltaio.Create(ctx, storage.NewMemory(), env, opt)
	if err == nil {
		var snap *deltaio.Snapshot
		if snap, err = t.Snapshot(ctx); err == nil {
			err = snap.Check(deltaio.WantAppend)
		}
	}
	if err == nil {
		return nil
	}
	why := err.Error()
	var un *deltaio.UnsupportedError
	if errors.As(err, &un) {
		why = un.Feature + ": " + un.Why
	}
	return &ArchiveError{Archive: dst.URL(), Source: src.Table().URL(), Reason: "a table of its columns cannot be made: " + why, Do: "purge without an archive, stating the reason"}
}

// archiveSchema is the schema of the archive's rows: the source's columns
// without the marker, then run_id and archived_at, all nullable, without the
// source's column mapping, defaults, constraints or generated columns.
func archiveSchema(src *deltaio.Snapshot, dst storage.Store, column string) (*schema.Struct, error) {
	marker, err := markerIn(src, column)
	if err != nil {
		return nil, &CriteriaError{Table: src.Table().URL(), Part: "marker column", Err: err}
	}
	out := &schema.Struct{}
	for _, f := range src.Schema().Fields {
		if f.Name == marker {
			continue
		}
		if strings.EqualFold(f.Name, RunIDColumn) || strings.EqualFold(f.Name, ArchivedAtColumn) {
			return nil, &ArchiveError{Archive: dst.URL(), Source: src.Table().URL(), Column: f.Name,
				Reason: "the archive adds a column of that name", Do: "rename the column in the source"}
		}
		out.Fields = append(out.Fields, plainField(f, true))
	}
	out.Fields = append(out.Fields,
		schema.Field{Name: RunIDColumn, Type: schema.String, Nullable: true},
		schema.Field{Name: ArchivedAtColumn, Type: schema.Timestamp, Nullable: true})
	return out, nil
}

// plainField keeps a field's type and comment.
func plainField(f schema.Field, top bool) schema.Field {
	out := schema.Field{Name: f.Name, Type: plainType(f.Type), Nullable: f.Nullable || top}
	if c, ok := f.MetaString("comment"); ok {
		if raw, err := json.Marshal(c); err == nil { // a string always encodes
			out.Metadata = map[string]json.RawMessage{"comment": raw}
		}
	}
	return out
}

func plainType(t schema.Type) schema.Type {
	switch x := t.(type) {
	case *schema.Struct:
		out := &schema.Struct{}
		for _, f := range x.Fields {
			out.Fields = append(out.Fields, plainField(f, false))
		}
		return out
	case *schema.Array:
		return &schema.Array{Element: plainType(x.Element), ContainsNull: x.ContainsNull}
	case *schema.Map:
		return &schema.Map{Key: plainType(x.Key), Value: plainType(x.Value), ValueContainsNull: x.ValueContainsNull}
	}
	return t
}

// namesNeedMapping: characters that Parquet column names may not have without
// column mapping.
const namesNeedMapping = " ,;{}()\n\t="

func createArchive(src *deltaio.Snapshot, want *schema.Struct) deltaio.CreateOptions {
	opt := deltaio.CreateOptions{Schema: want, PartitionBy: slices.Clone(src.PartitionBy()), Properties: map[string]string{},
		Description: "rows purged from " + src.Table().URL() + " by lakewarden"}
	if needsMapping(want) {
		opt.Properties["delta.columnMapping.mode"] = "name"
	}
	return opt
}

func needsMapping(t schema.Type) bool {
	switch x := t.(type) {
	case *schema.Struct:
		return slices.ContainsFunc(x.Fields, func(f schema.Field) bool {
			return strings.ContainsAny(f.Name, namesNeedMapping) || needsMapping(f.Type)
		})
	case *schema.Array:
		return needsMapping(x.Element)
	case *schema.Map:
		return needsMapping(x.Key) || needsMapping(x.Value)
	}
	return false
}

func fitSchema(src, dst *deltaio.Snapshot, want *schema.Struct) (*archiveFit, error) {
	fit := &archiveFit{exists: true, names: map[string]string{}}
	if v, _ := dst.Property("delta.appendOnly"); strings.EqualFold(v, "true") {
		fit.appendOnly = true
	}
	refuse := func(column, reason, do string) error {
		return &ArchiveError{Archive: dst.Table().URL(), Source: src.Table().URL(), Column: column, Reason: reason, Do: do}
	}
	known := map[string]bool{}
	for i := range want.Fields {
		w := &want.Fields[i]
		have, ok := dst.Schema().Field(w.Name)
		switch {
		case !ok:
			fit.adds = append(fit.adds, *w)
			fit.names[w.Name] = w.Name
			continue
		case !schema.Equal(have.Type, w.Type):
			return nil, refuse(w.Name, fmt.Sprintf("it is %s there and %s here", have.Type, w.Type), "change the archive's column or name another archive")
		case known[have.Name]:
			return nil, refuse(w.Name, "two columns of the source have that name but for case", "name another archive")
		case !have.Nullable && sourceNullable(src, w.Name):
			return nil, refuse(w.Name, "the archive forbids nulls that the source allows", "drop NOT NULL in the archive")
		}
		known[have.Name] = true
		fit.names[w.Name] = have.Name
	}
	for _, f := range dst.Schema().Fields {
		if _, generated := f.Metadata[schema.KeyGeneration]; !known[f.Name] && !f.Nullable && !generated {
			return nil, refuse(f.Name, "the archive requires it and the source has no such column", "drop NOT NULL in the archive")
		}
	}
	return fit, nil
}

// sourceNullable says whether archived rows may have a null there.
func sourceNullable(src *deltaio.Snapshot, column string) bool {
	f, ok := src.Schema().Field(column)
	return ok && f.Nullable
}
