package log

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// knownColumns are the actions a checkpoint may hold.
var knownColumns = []string{
	"add", "remove", "metaData", "protocol", "txn", "domainMetadata", "sidecar", "checkpointMetadata",
	"commitInfo", "cdc", // never filled, but old writers have the columns
}

// checkFooter holds the parts of a footer against each other. Pages carry
// checksums, footers do not, and a damaged name in one would make a column
// vanish that counts as merely missing.
func checkFooter(f *parquet.File) error {
	meta := f.Metadata()
	columns := f.Schema().Columns()
	var rows int64
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		rows += g.NumRows
		if len(g.Columns) != len(columns) {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, len(g.Columns), len(columns))
		}
		for j := range g.Columns {
			m := &g.Columns[j].MetaData
			if !slices.Equal([]string(m.PathInSchema), columns[j]) {
				return fmt.Errorf("row group %d: column %v where the schema has %v", i, m.PathInSchema, columns[j])
			}
			leaf, _ := f.Schema().Lookup(columns[j]...)
			if parquet.Kind(m.Type) != leaf.Node.Type().Kind() {
				return fmt.Errorf("row group %d: column %v is of another type than the schema says", i, columns[j])
			}
			if m.NumValues != g.NumRows && (leaf.MaxRepetitionLevel == 0 || m.NumValues < g.NumRows) {
				return fmt.Errorf("row group %d: %d values of column %v in %d rows", i, m.NumValues, columns[j], g.NumRows)
			}
		}
	}
	if rows != meta.NumRows {
		return fmt.Errorf("%d rows in all row groups, the footer says %d", rows, meta.NumRows)
	}
	return nil
}

// strict says whether every row must hold an action known here: a file without
// columns of other actions has no other rows.
func strict(root *parquet.Column) (bool, error) {
	known, other := 0, 0
	for _, c := range root.Columns() {
		if slices.Contains(knownColumns, c.Name()) {
			known++
		} else {
			other++
		}
	}
	if known == 0 {
		return false, errors.New("no column of any action")
	}
	return other == 0, nil
}
