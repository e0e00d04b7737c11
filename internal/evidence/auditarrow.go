package evidence

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// ErrAuditTable: the table cannot take the audit's rows as it is.
var ErrAuditTable = errors.New("not an audit table")

// CheckAuditTable says whether a table can serve as the audit table, and which
// of our columns it lacks, in order. It must have the first seven; the others
// are added. Counts may be of any integer type; columns of its own are left null.
func CheckAuditTable(existing *schema.Struct) (missing []schema.Field, err error) {
	var wrong []string
	for i, c := range columns {
		f, ok := existing.Field(c.name)
		switch {
		case !ok && i < adopted:
			wrong = append(wrong, fmt.Sprintf("column %s is missing", c.name))
		case !ok:
			missing = append(missing, c.field())
		case !c.stores(f.Type):
			wrong = append(wrong, fmt.Sprintf("column %s is %s, want %s", c.name, f.Type, c.kind))
		case !f.Nullable && c.nullable():
			wrong = append(wrong, fmt.Sprintf("column %s is NOT NULL, but what is unknown is written as null", c.name))
		}
	}
	for _, f := range existing.Fields {
		if !f.Nullable && !ours(f.Name) {
			wrong = append(wrong, fmt.Sprintf("column %s is NOT NULL and not one of the audit's", f.Name))
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrAuditTable, strings.Join(wrong, "; "))
	}
	return missing, nil
}

func ours(name string) bool {
	for _, c := range columns {
		if strings.EqualFold(c.name, name) {
			return true
		}
	}
	return false
}

// nullable reports whether rows may leave the column null.
func (c column) nullable() bool {
	switch c.name {
	case "run_id", "target_table", "criteria", "exec_time", "status", "prev_hash", "row_hash":
		return false
	}
	return true
}

// stores reports whether a column of type t can hold ours without loss.
func (c column) stores(t schema.Type) bool {
	switch c.kind {
	case schema.Long:
		return t == schema.Long || t == schema.Integer || t == schema.Short || t == schema.Byte
	case schema.Timestamp:
		return t == schema.Timestamp || t == schema.TimestampNTZ
	}
	return t == c.kind
}

// AuditRecord gives the rows as a batch for a table of schema target: its
// columns in its order, foreign ones null. The caller releases it.
func AuditRecord(target *schema.Struct, rows []AuditRow) (arrow.Record, error) {
	s, err := schema.ArrowSchema(target)
	if err != nil {
		return nil, fmt.Errorf("audit rows: %w", err)
	}
	byName := map[string]column{}
	for _, c := range columns {
		byName[c.name] = c
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i, f := range target.Fields {
		c, ok := byName[strings.ToLower(f.Name)]
		for j := range rows {
			if !ok {
				b.Field(i).AppendNull()
				continue
			}
			if err := appendField(b.Field(i), c.at(&rows[j])); err != nil {
				return nil, fmt.Errorf("audit rows: column %s of run %s: %w", f.Name, rows[j].RunID, err)
			}
		}
	}
	return b.NewRecord(), nil
}

func appendField(b array.Builder, field any) error {
	switch v := field.(type) {
	case *string:
		return appendString(b, *v)
	case **int64:
		if *v == nil {
			b.AppendNull()
			return nil
		}
		return appendInt(b, **v)
	case *time.Time:
		return appendTime(b, *v)
	case **time.Time:
		if *v == nil {
			b.AppendNull()
			return nil
		}
		return appendTime(b, **v)
	}
	return fmt.Errorf("field of type %T", field)
}

func appendString(b array.Builder, s string) error {
	sb, ok := b.(*array.StringBuilder)
	if !ok {
		return fmt.Errorf("the table stores %s, want string", b.Type())
	}
	if s == "" {
		sb.AppendNull()
		return nil
	}
	sb.Append(strings.ToValidUTF8(s, "\uFFFD"))
	return nil
}

func appendInt(b array.Builder, n int64) error {
	limit := int64(math.MaxInt64)
	switch b.(type) {
	case *array.Int32Builder:
		limit = math.MaxInt32
	case *array.Int16Builder:
		limit = math.MaxInt16
	case *array.Int8Builder:
		limit = math.MaxInt8
	}
	if n > limit || n < -limit-1 {
		return fmt.Errorf("%w for this row: %d does not fit its %s; widen the column to long", ErrAuditTable, n, b.Type())
	}
	switch x := b.(type) {
	case *array.Int64Builder:
		x.Append(n)
	case *array.Int32Builder:
		x.Append(int32(n))
	case *array.Int16Builder:
		x.Append(int16(n))
	case *array.Int8Builder:
		x.Append(int8(n))
	default:
		return fmt.Errorf("the table stores %s, want an integer", b.Type())
	}
	return nil
}

func appendTime(b array.Builder, t time.Time) error {
	tb, ok := b.(*array.TimestampBuilder)
	if !ok {
		return fmt.Errorf("the table stores %s, want timestamp", b.Type())
	}
	if t.IsZero() {
		tb.AppendNull()
		return nil
	}
	tb.Append(arrow.Timestamp(t.UTC().Truncate(time.Microsecond).UnixMicro()))
	return nil
}

// AuditRows reads a batch of an audit table. Columns that the batch lacks are
// null, columns that are not the audit's are left out.
func AuditRows(rec arrow.Record) ([]AuditRow, error) {
	rows := make([]AuditRow, rec.NumRows())
	for _, c := range columns {
		for i, f := range rec.Schema().Fields() {
			if !strings.EqualFold(f.Name, c.name) {
				continue
			}
			for j := range rows {
				if err := readField(rec.Column(i), j, c.at(&rows[j])); err != nil {
					return nil, fmt.Errorf("audit rows: column %s: %w", f.Name, err)
				}
			}
			break
		}
	}
	return rows, nil
}

func readField(a arrow.Array, i int, field any) error {
	if a.IsNull(i) {
		return nil
	}
	switch v := field.(type) {
	case *string:
		s, ok := a.(*array.String)
		if !ok {
			return fmt.Errorf("the table stores %s, want string", a.DataType())
		}
		*v = strings.Clone(s.Value(i))
		return nil
	case **int64:
		return readInt(a, i, v)
	case *time.Time:
		return readTime(a, i, v)
	case **time.Time:
		*v = new(time.Time)
		return readTime(a, i, *v)
	}
	return fmt.Errorf("field of type %T", field)
}

func readInt(a arrow.Array, i int, field **int64) error {
	var n int64
	switch x := a.(type) {
	case *array.Int64:
		n = x.Value(i)
	case *array.Int32:
		n = int64(x.Value(i))
	case *array.Int16:
		n = int64(x.Value(i))
	case *array.Int8:
		n = int64(x.Value(i))
	default:
		return fmt.Errorf("the table stores %s, want an integer", a.DataType())
	}
	*field = &n
	return nil
}

func readTime(a arrow.Array, i int, field *time.Time) error {
	ts, ok := a.(*array.Timestamp)
	if !ok {
		return fmt.Errorf("the table stores %s, want timestamp", a.DataType())
	}
	*field = time.UnixMicro(int64(ts.Value(i))).UTC()
	return nil
}
