package rowtext_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var sales = &schema.Struct{Fields: []schema.Field{
	{Name: "s", Type: schema.String, Nullable: true}, {Name: "m", Type: schema.Decimal{Precision: 5, Scale: 3}, Nullable: true},
	{Name: "d", Type: schema.Double, Nullable: true}, {Name: "t", Type: schema.TimestampNTZ, Nullable: true},
}}

func record(t *testing.T, rows string) arrow.Record {
	t.Helper()
	as, err := schema.ArrowSchema(sales)
	require.NoError(t, err)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, as, strings.NewReader(rows))
	require.NoError(t, err)
	return rec
}

const rows = `[{"s":"é","m":"-0.010","d":1,"t":"1970-01-01 00:00:01"},{"s":"","m":"10"},{}]`

func TestRows_text_follows_the_encoding(t *testing.T) {
	t.Parallel()
	var got []string
	require.NoError(t, rowtext.New(sales).Rows(record(t, rows), func(_ int, text []byte) error {
		got = append(got, string(text))
		return nil
	}))
	require.Equal(t, []string{"(s2:é,m-0.010,d3ff0000000000000,N1000000)", "(s0:,m10.000,null,null)", "(null,null,null,null)"}, got)
}

func TestDigest_order_and_batches_do_not_matter_but_duplicates_do(t *testing.T) {
	t.Parallel()
	rec := record(t, rows)
	whole, parts, twice := rowtext.NewDigest(sales), rowtext.NewDigest(sales), rowtext.NewDigest(sales)
	require.NoError(t, whole.Add(rec, nil))
	require.NoError(t, parts.Add(rec, func(i int) bool { return i == 2 }))
	require.NoError(t, parts.Add(rec.NewSlice(0, 2), nil))
	require.NoError(t, twice.Add(rec, nil))
	require.NoError(t, twice.Add(rec.NewSlice(1, 2), nil))
	require.EqualValues(t, 3, parts.Count())
	require.Equal(t, whole.Sum(), parts.Sum())
	require.NotEqual(t, whole.Sum(), twice.Sum())
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", rowtext.NewDigest(sales).Sum())
}

func TestRows_a_record_of_another_schema_is_refused(t *testing.T) {
	t.Parallel()
	other := &schema.Struct{Fields: []schema.Field{{Name: "x", Type: schema.Long}}}
	err := rowtext.New(other).Rows(record(t, rows), func(int, []byte) error { return nil })
	require.ErrorContains(t, err, "0 columns x")
}
