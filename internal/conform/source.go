package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// Source conforms the batches of one source. It serves one goroutine.
type Source struct {
	table   *Table
	spec    spec.SilverSource
	casters []*caster
	must    []bool
	deletes *expr.Expr

	missing map[string]bool
	extra   map[string]bool
}

// ColumnError refuses a file whose columns cannot be conformed.
type ColumnError struct {
	Source, File string
	Message      string
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("source %s, file %s: %s", e.Source, e.File, e.Message)
}

// Reject is a row that is not taken.
type Reject struct {
	Source  string
	File    string
	Raw     string
	Reasons []Reason
	// Key and Order are what could be read of the row's place, nil where its key or
	// sequence could not: a valid older version of the key may count meanwhile.
	Key, Sequence []byte
}

// Result is what became of a batch.
type Result struct {
	Rows    Rows
	Rejects []Reject
	Counts  Counts
}

// Conform judges a batch. file numbers the batch's file in the rows.
func (s *Source) Conform(b *Batch, file uint32) (*Result, error) {
	j := &judge{s: s, b: b, out: &Result{}, reasons: map[int][]Reason{}, file: file}
	defer j.release()
	j.out.Counts.Read = int64(b.Rows)
	for i, broken := range b.Broken {
		j.reasons[i] = append(j.reasons[i], broken.Reason)
	}
	if err := j.findDeletes(); err != nil {
		return nil, err
	}
	if err := j.castAll(); err != nil {
		return nil, err
	}
	j.requireAll()
	if err := j.compute(); err != nil {
		return nil, err
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	return j.out, j.split()
}

// Missing and Extra are the columns that the batches so far did not have, and
// those that the spec does not name.
func (s *Source) Missing() []string { return sorted(s.missing) }

// Extra are the source's columns that the spec does not name.
func (s *Source) Extra() []string { return sorted(s.extra) }

// SawExtra notes a column that the spec does not name.
func (s *Source) SawExtra(name string) { s.extra[name] = true }

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// judge is the work on one batch.
type judge struct {
	s       *Source
	b       *Batch
	out     *Result
	file    uint32
	reasons map[int][]Reason
	deleted []bool
	arrays  []arrow.Array // of table.full, in its order
	rec     arrow.Record
	expired []bool
}

func (j *judge) release() {
	for _, a := range j.arrays {
		a.Release()
	}
	if j.rec != nil {
		j.rec.Release()
	}
}

func (j *judge) bad(row int, r Reason) {
	if j.isDeleted(row) && !j.places(r.Column) {
		j.out.Counts.DeleteValuesDropped++
		return
	}
	j.reasons[row] = append(j.reasons[row], r)
}

func (j *judge) isDeleted(row int) bool { return j.deleted != nil && j.deleted[row] }

// places says whether a column is of the key or the sequence: all that a delete
// needs.
func (j *judge) places(column string) bool {
	t := j.s.table.spec
	return slices.Contains(t.Keys, column) || slices.Contains(t.SequenceBy, column)
}

// findDeletes evaluates apply_as_deletes on the source's own columns.
func (j *judge) findDeletes() error {
	if j.b.Deletes != nil {
		j.deleted = slices.Clone(j.b.Deletes)
	}
	x := j.s.deletes
	if x == nil {
		return nil
	}
	st := &schema.Struct{}
	var fields []arrow.Field
	var cols []arrow.Array
	for i, name := range j.b.Names {
		t, err := sourceType(j.b.Columns[i].DataType())
		if err != nil {
			continue // a column that no condition can read
		}
		st.Fields = append(st.Fields, schema.Field{Name: name, Type: t, Nullable: true})
		fields = append(fields, arrow.Field{Name: name, Type: j.b.Columns[i].DataType(), Nullable: true})
		cols = append(cols, j.b.Columns[i])
	}
	bound, err := x.Bind(st, expr.Context{})
	if err != nil {
		return &ColumnError{Source: j.s.spec.Name, File: j.b.File, Message: "apply_as_deletes: " + err.Error()}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(j.b.Rows))
	defer rec.Release()
	truth, err := bound.Truth(rec)
	if err != nil {
		return fmt.Errorf("apply_as_deletes: %w", err)
	}
	if j.deleted == nil {
		j.deleted = make([]bool, j.b.Rows)
	}
	for i := range j.deleted {
		j.deleted[i] = j.deleted[i] || truth.IsTrue(i)
	}
	return nil
}

// castAll makes the columns that are read.
func (j *judge) castAll() error {
	used := map[string]bool{}
	for i, k := range j.s.casters {
		at := j.b.column(k.from)
		var src arrow.Array
		var numbers map[int]bool
		switch {
		case at >= 0 && twice(j.b.Names, j.b.Names[at]):
			return &ColumnError{Source: j.s.spec.Name, File: j.b.File, Message: fmt.Sprintf("two columns are called %s; which one column %s comes from cannot be told", k.from, k.name)}
		case at >= 0:
			src, numbers, used[j.b.Names[at]] = j.b.Columns[at], j.b.numbers[at], true
		case j.s.must[i] && !k.hasDef:
			return &ColumnError{Source: j.s.spec.Name, File: j.b.File, Message: fmt.Sprintf("column %s is missing, which column %s of the table needs; it has %s", k.from, k.name, strings.Join(j.b.Names, ", "))}
		default:
			j.s.missing[k.from] = true
		}
		a, repaired := k.cast(src, j.b.Rows, numbers, j.bad)
		j.out.Counts.RepairedCells += repaired
		j.arrays = append(j.arrays, a)
	}
	j.arrays = append(j.arrays, constant(j.s.spec.Name, j.b.Rows))
	return j.drift(used)
}

// drift looks at columns that the spec does not name.
func (j *judge) drift(used map[string]bool) error {
	if j.s.deletes != nil {
		for _, name := range j.s.deletes.Columns() {
			if at := j.b.column(strings.Trim(name, "`")); at >= 0 {
				used[j.b.Names[at]] = true
			}
		}
	}
	for _, name := range j.b.Names {
		if !used[name] {
			j.s.extra[name] = true
		}
	}
	if j.s.table.spec.SchemaDrift.NewColumns == spec.DriftFail && len(j.s.extra) > 0 {
		return &ColumnError{Source: j.s.spec.Name, File: j.b.File, Message: "the spec does not name the columns " + strings.Join(j.s.Extra(), ", ") + "; name them, or set schema_drift.new_columns: ignore"}
	}
	return nil
}

func twice(names []string, name string) bool {
	n := 0
	for _, o := range names {
		if o == name {
			n++
		}
	}
	return n > 1
}

func constant(s string, rows int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(rows)
	for range rows {
		b.Append(s)
	}
	return b.NewArray()
}

// requireAll rejects rows without a value where one is needed.
func (j *judge) requireAll() {
	t := j.s.table
	for i, k := range j.s.casters {
		key, seq := slices.Contains(t.spec.Keys, k.name), slices.Contains(t.spec.SequenceBy, k.name)
		if !j.s.must[i] {
			continue
		}
		text, _ := j.arrays[i].(*array.String)
		for row := range j.b.Rows {
			blank := j.arrays[i].IsNull(row) || key && text != nil && trim(text.Value(row)) == ""
			if !blank || j.hasReason(row, k.name) {
				continue
			}
			r := Reason{Code: CodeRequired, Column: k.name, Detail: "it has no value"}
			if key {
				r = Reason{Code: CodeKeyNull, Column: k.name, Detail: "a key has a value in each of its columns"}
			} else if seq {
				r = Reason{Code: CodeSequenceNull, Column: k.name, Detail: "without it the row has no place among the versions of its key"}
			}
			j.bad(row, r)
		}
	}
}

// hasReason: a record that could not be read has no values to miss.
func (j *judge) hasReason(row int, column string) bool {
	return slices.ContainsFunc(j.reasons[row], func(r Reason) bool { return r.Column == column || r.Column == "" })
}

// compute adds the computed columns.
func (j *judge) compute() error {
	t := j.s.table
	base, err := schema.ArrowSchema(t.base)
	if err != nil {
		return err
	}
	rec := array.NewRecord(base, j.arrays, int64(j.b.Rows))
	defer rec.Release()
	for _, c := range t.exprs {
		a, err := c.bound.Eval(rec)
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
		j.arrays = append(j.arrays, a)
	}
	full, err := schema.ArrowSchema(t.full)
	if err != nil {
		return err
	}
	j.rec = array.NewRecord(full, j.arrays, int64(j.b.Rows))
	j.requireComputed()
	return nil
}

// requireComputed rejects rows whose computed column has no value and needs one.
func (j *judge) requireComputed() {
	t := j.s.table
	for i, c := range t.exprs {
		at := len(t.base.Fields) + i
		n := slices.IndexFunc(t.spec.Columns, func(col spec.SilverColumn) bool { return col.Name == c.name })
		key, seq := slices.Contains(t.spec.Keys, c.name), slices.Contains(t.spec.SequenceBy, c.name)
		if !t.spec.Columns[n].Required && !key && !seq {
			continue
		}
		for row := range j.b.Rows {
			if !j.arrays[at].IsNull(row) || len(j.reasons[row]) > 0 {
				continue
			}
			r := Reason{Code: CodeRequired, Column: c.name, Detail: "its expression gives NULL"}
			if key {
				r.Code = CodeKeyNull
			} else if seq {
				r.Code = CodeSequenceNull
			}
			j.bad(row, r)
		}
	}
}

// check applies rules and retention to the rows that are whole.
func (j *judge) check() error {
	t := j.s.table
	for _, e := range t.rules {
		truth, err := e.bound.Truth(j.rec)
		if err != nil {
			return fmt.Errorf("rule %s: %w", e.Name, err)
		}
		for row := range j.b.Rows {
			if truth.IsTrue(row) || truth.IsNull(row) || j.isDeleted(row) || j.unreadable(row) {
				continue
			}
			switch e.Severity {
			case spec.SeverityQuarantine:
				j.bad(row, Reason{Code: "rule:" + e.Name, Detail: e.Check + " does not hold"})
			case spec.SeverityFail:
				count(&j.out.Counts.Failed, e.Name)
			default:
				count(&j.out.Counts.Warned, e.Name)
			}
		}
	}
	for _, x := range t.expired {
		truth, err := x.Truth(j.rec)
		if err != nil {
			return fmt.Errorf("retention: %w", err)
		}
		if j.expired == nil {
			j.expired = make([]bool, j.b.Rows)
		}
		for row := range j.b.Rows {
			j.expired[row] = j.expired[row] || truth.IsTrue(row)
		}
	}
	return nil
}

// unreadable rows have reasons that are not rules: their values are not known.
func (j *judge) unreadable(row int) bool {
	return slices.ContainsFunc(j.reasons[row], func(r Reason) bool { return !strings.HasPrefix(r.Code, "rule:") })
}

// split writes rows, and rejects with their reasons.
func (j *judge) split() error {
	c := &j.out.Counts
	var row Row
	for i := range j.b.Rows {
		reasons := j.reasons[i]
		if len(reasons) == 0 && j.expired != nil && j.expired[i] {
			c.Expired++
			continue
		}
		if len(reasons) > 0 {
			c.Quarantined++
			count(&c.Reasons, reasons[0].Code)
			reject := Reject{Source: j.s.spec.Name, File: j.b.File, Raw: j.b.raw(i), Reasons: reasons}
			if _, broken := j.b.Broken[i]; !broken && !slices.ContainsFunc(reasons, func(r Reason) bool { return j.places(r.Column) }) {
				if err := j.s.table.encodeRow(&row, j.arrays, i, j.isDeleted(i)); err != nil {
					return err
				}
				reject.Key, reject.Sequence = slices.Clone(row.Key), slices.Clone(row.Order[:row.Sequence])
			}
			j.out.Rejects = append(j.out.Rejects, reject)
			continue
		}
		if err := j.s.table.encodeRow(&row, j.arrays, i, j.isDeleted(i)); err != nil {
			return err
		}
		row.File = j.file
		j.out.Rows.Add(row)
	}
	return nil
}

// encodeRow writes row i of the columns of table.full.
func (t *Table) encodeRow(row *Row, cols []arrow.Array, i int, deleted bool) (err error) {
	row.Key, row.Order = row.Key[:0], row.Order[:0]
	for _, c := range t.keys {
		if row.Key, err = encodeValue(row.Key, cols[c], i); err != nil {
			return err
		}
	}
	for _, c := range t.seq {
		if row.Order, err = encodeValue(row.Order, cols[c], i); err != nil {
			return err
		}
	}
	flag := byte(0)
	if deleted {
		flag = 1
	}
	row.Order = append(row.Order, flag)
	row.Sequence = len(row.Order)
	for _, c := range t.content {
		if row.Order, err = encodeValue(row.Order, cols[c], i); err != nil {
			return err
		}
	}
	return nil
}

// sourceType is the type by which conditions read a source's column.
func sourceType(t arrow.DataType) (schema.Type, error) {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return schema.Decimal{Precision: int(t.Precision), Scale: int(t.Scale)}, nil
	case *arrow.TimestampType:
		if t.Unit != arrow.Microsecond {
			break
		}
		if t.TimeZone == "" {
			return schema.TimestampNTZ, nil
		}
		return schema.Timestamp, nil
	}
	for id, p := range map[arrow.Type]schema.Primitive{
		arrow.STRING: schema.String, arrow.BOOL: schema.Boolean, arrow.INT8: schema.Byte, arrow.INT16: schema.Short, arrow.INT32: schema.Integer,
		arrow.INT64: schema.Long, arrow.FLOAT32: schema.Float, arrow.FLOAT64: schema.Double, arrow.DATE32: schema.Date, arrow.BINARY: schema.Binary,
	} {
		if t.ID() == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("type %s", t)
}
