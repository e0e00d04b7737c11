package matrix

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// cutoff is the first day that is not due.
const cutoff = "2025-02-08"

// sale is a row of the fixture.
type sale struct {
	id     int64
	day    string // "" is null: undated
	shop   string // partition; "" is null
	name   string // a marker string that is in no other row
	status string
	amount float64
	flag   string // "", "true" or "false": the marker, where the table has it
}

var salesColumns = []string{"id", "day", "shop", "name", "status", "amount"}

func salesSchema() *schema.Struct {
	return &schema.Struct{Fields: []schema.Field{
		{Name: "id", Type: schema.Long, Nullable: true},
		{Name: "day", Type: schema.Date, Nullable: true},
		{Name: "shop", Type: schema.String, Nullable: true},
		{Name: "name", Type: schema.String, Nullable: true},
		{Name: "status", Type: schema.String, Nullable: true},
		{Name: "amount", Type: schema.Double, Nullable: true},
	}}
}

func (s sale) text() string {
	null := func(v string) string {
		if v == "" {
			return array.NullValueStr
		}
		return v
	}
	return strings.Join([]string{fmt.Sprint(s.id), null(s.day), null(s.shop), s.name, s.status, fmt.Sprint(s.amount)}, "|")
}

func (s sale) due() bool { return s.day != "" && s.day < cutoff && s.status != "LITIGATION" }

// textsOf is what reading these rows must give.
func textsOf(rows []sale) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.text()
	}
	slices.Sort(out)
	return out
}

// split is the model's arithmetic: what stays and what goes.
func split(rows []sale, goes func(sale) bool) (stay, gone []sale) {
	for _, r := range rows {
		if goes(r) {
			gone = append(gone, r)
		} else {
			stay = append(stay, r)
		}
	}
	return stay, gone
}

// dueOf splits by the usual policy.
func dueOf(rows []sale) (stay, gone []sale) { return split(rows, sale.due) }

func newSale(id int64, day, shop, status string) sale {
	return sale{id: id, day: day, shop: shop, name: fmt.Sprintf("marker-%04d-of-one-row", id), status: status, amount: float64(id) / 4}
}

// fixture is a table of four files: one whose rows are all due, one without any,
// one that mixes due, held and undated rows, one of the null partition that mixes
// too. Partition values need escaping.
func fixture() [][]sale {
	return [][]sale{
		{newSale(1, "2024-11-03", "A/A 50%", "CLOSED"), newSale(2, "2024-12-24", "A/A 50%", "OPEN"), newSale(3, "2025-02-07", "A/A 50%", "CLOSED")},
		{newSale(4, "2025-02-08", "A/A 50%", "CLOSED"), newSale(5, "2025-03-01", "A/A 50%", "CLOSED")},
		{
			newSale(6, "2024-12-01", "Évora", "CLOSED"), newSale(7, "2025-03-02", "Évora", "CLOSED"), newSale(8, "2024-12-02", "Évora", "LITIGATION"),
			newSale(9, "", "Évora", "CLOSED"), newSale(10, "2024-12-03", "Évora", "CLOSED"), newSale(11, "2025-02-20", "Évora", "LITIGATION"),
		},
		{newSale(12, "2025-01-05", "", "CLOSED"), newSale(13, "2025-03-05", "", "CLOSED")},
	}
}

func flat(files [][]sale) []sale { return slices.Concat(files...) }

// salesRecord builds a batch in the order of a schema, which may have further
// columns; those are null.
func salesRecord(t tb, s *schema.Struct, rows []sale) arrow.Record {
	t.Helper()
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	for _, r := range rows {
		for i, f := range as.Fields() {
			r.appendTo(b.Field(i), f.Name)
		}
	}
	return b.NewRecord()
}

func (s sale) appendTo(b array.Builder, column string) {
	text := map[string]string{"shop": s.shop, "name": s.name, "status": s.status}
	switch column {
	case flagColumn:
		if s.flag == "" {
			b.AppendNull()
			return
		}
		b.(*array.BooleanBuilder).Append(s.flag == "true")
	case "id":
		b.(*array.Int64Builder).Append(s.id)
	case "amount":
		b.(*array.Float64Builder).Append(s.amount)
	case "day":
		at, err := time.Parse(time.DateOnly, s.day)
		if d, ok := b.(*array.Date32Builder); ok && err == nil {
			d.Append(arrow.Date32FromTime(at))
			return
		}
		if d, ok := b.(*array.StringBuilder); ok && s.day != "" {
			d.Append(s.day)
			return
		}
		b.AppendNull()
	default:
		if text[column] == "" {
			b.AppendNull()
			return
		}
		b.(*array.StringBuilder).Append(text[column])
	}
}

// salesOf reads a batch back.
func salesOf(rec arrow.Record) []sale {
	out := make([]sale, rec.NumRows())
	for c, f := range rec.Schema().Fields() {
		for i := range out {
			if rec.Column(c).IsNull(i) {
				continue
			}
			text := rec.Column(c).ValueStr(i)
			switch f.Name {
			case "id":
				out[i].id = rec.Column(c).(*array.Int64).Value(i)
			case "amount":
				out[i].amount = rec.Column(c).(*array.Float64).Value(i)
			case "day":
				out[i].day = text
			case "shop":
				out[i].shop = text
			case "name":
				out[i].name = text
			case "status":
				out[i].status = text
			case flagColumn:
				out[i].flag = text
			}
		}
	}
	return out
}

func one(rec arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) { yield(rec, nil) }
}

// create makes a table of sales and appends each list of rows as files of its own.
func (w *world) create(name string, opt deltaio.CreateOptions, files ...[]sale) {
	w.t.Helper()
	if opt.Schema == nil {
		opt.Schema = salesSchema()
	}
	_, err := deltaio.Create(w.ctx, w.store(name), w.env(), opt)
	require.NoError(w.t, err)
	w.append(name, files...)
}

// append adds each list of rows in a commit of its own.
func (w *world) append(name string, files ...[]sale) {
	w.t.Helper()
	for _, rows := range files {
		t := w.table(name)
		snap, err := t.Snapshot(w.ctx)
		require.NoError(w.t, err)
		rec := salesRecord(w.t, snap.Schema(), rows)
		_, err = deltaio.Append(w.ctx, t, deltaio.AppendOptions{}, one(rec))
		rec.Release()
		require.NoError(w.t, err)
	}
}

// template is the world of the fixture; clone it.
var template = sync.OnceValue(func() *world {
	w := newWorld(panicking{})
	w.create(tableName, deltaio.CreateOptions{PartitionBy: []string{"shop"}}, fixture()...)
	return w
})

// salesWorld is a lakehouse that holds the fixture.
func salesWorld(t tb) *world {
	t.Helper()
	return template().clone(t)
}

// panicking is the tb of what is made once for all tests.
type panicking struct{}

func (panicking) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panicking) FailNow()                          { panic("failed") }
func (panicking) Helper()                           {}
func (panicking) Logf(string, ...any)               {}
