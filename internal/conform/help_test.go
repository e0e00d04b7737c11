package conform

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/spec"
)

var testNow = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func load(t *testing.T, name string, change func(*spec.SilverTable)) *Table {
	t.Helper()
	text, err := os.ReadFile("../../examples/" + name)
	require.NoError(t, err)
	s, err := spec.ParseSilverTable(text)
	require.NoError(t, err)
	if change != nil {
		change(&s)
	}
	require.Empty(t, s.Validate(time.LoadLocation))
	c, err := Compile(s, Options{Now: testNow, Zones: time.LoadLocation})
	require.NoError(t, err)
	return c
}

// outcome is what a text became.
type outcome struct {
	rows    []string // of the winners, as JSON, in any order
	rejects []Reject
	counts  Counts
}

// conformText runs whole files of the first source through the engine, each file
// with its own name.
func conformText(t *testing.T, table *Table, texts ...string) outcome {
	t.Helper()
	d := NewDedupe(0, nil)
	var out outcome
	name := table.Spec().Sources[0].Name
	for n, text := range texts {
		src, err := table.Source(name)
		require.NoError(t, err)
		batches := ReadCSV(strings.NewReader(text), fmt.Sprint("f", n), src.spec.Options)
		if src.spec.Format == spec.FormatJSON {
			batches = ReadJSON(strings.NewReader(text), fmt.Sprint("f", n), src.spec.Options, src.Paths(), src.SawExtra)
		}
		for b, err := range batches {
			require.NoError(t, err)
			r, err := src.Conform(b, uint32(n))
			require.NoError(t, err)
			b.Release()
			require.NoError(t, d.Add(&r.Rows))
			out.rejects = append(out.rejects, r.Rejects...)
			out.counts.Add(r.Counts)
		}
	}
	dec := table.NewDecoder(func(n uint32) string { return fmt.Sprint("f", n) })
	defer dec.Release()
	var kept Rows
	for row, err := range d.Winners() {
		require.NoError(t, err)
		require.NoError(t, dec.Add(row))
		kept.Add(row)
		out.counts.Inserted++
	}
	out.counts.Add(d.Counts())
	rec := dec.Record()
	defer rec.Release()
	shown := Batch{Columns: rec.Columns(), Rows: int(rec.NumRows())}
	for _, f := range rec.Schema().Fields() {
		shown.Names = append(shown.Names, f.Name)
	}
	for i := range shown.Rows {
		out.rows = append(out.rows, shown.raw(i))
	}
	// What is written reads back as the same version.
	enc, err := table.Encode(rec)
	require.NoError(t, err)
	var back Row
	i := 0
	for row := range kept.All {
		require.NoError(t, enc.Row(&back, i))
		require.Equal(t, row.Key, back.Key)
		require.Equal(t, row.Order, back.Order)
		i++
	}
	require.NoError(t, out.counts.Check())
	return out
}

// codes lists the first reasons' codes, in the order of the rejects.
func (o outcome) codes() []string {
	var out []string
	for _, r := range o.rejects {
		out = append(out, r.Reasons[0].Code)
	}
	return out
}

const ventasHeader = "ID_Venta;ID_Cliente;Cliente;Fecha_Venta;Fecha_Modificacion;Importe;Unidades\n"

func venta(id, venta, mod, importe string) string {
	return fmt.Sprintf("%s;C1;Ana;%s;%s;%s;1\n", id, venta, mod, importe)
}

// one casts one text with one column and gives its value as text, or the code.
func one(t *testing.T, c spec.SilverColumn, s string) string {
	t.Helper()
	c.Name = "c"
	d := spec.SilverTable{Columns: []spec.SilverColumn{c}}.Defaults().Columns[0]
	k, err := newCaster(d.ForSource(spec.SilverSource{}), spec.SilverSource{}, time.LoadLocation)
	require.NoError(t, err)
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	b.Append(s)
	in := b.NewArray()
	defer in.Release()
	code := ""
	out, _ := k.cast(in, 1, nil, func(_ int, r Reason) { code = r.Code })
	defer out.Release()
	if code != "" {
		return code
	}
	return textOf(out, 0)
}

func zones(name string) (*time.Location, error) { return time.LoadLocation(name) }
