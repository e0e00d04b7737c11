package deltaio

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// AddColumnOptions add one nullable column at the end of the schema.
type AddColumnOptions struct {
	Base    *Snapshot // nil: the newest version
	Name    string
	Type    schema.Type
	Comment string
	Step    *Step
	Info    map[string]any
}

// ColumnExistsError: a column of the name is there, and it is not what was asked
// for.
type ColumnExistsError struct {
	Table, Column string
	Have, Want    string
}

func (e *ColumnExistsError) Error() string {
	return fmt.Sprintf("%s: column %s exists as %s, wanted %s: choose another name", e.Table, e.Column, e.Have, e.Want)
}

// AddColumn adds the column. NothingToDo (without a Step) when a nullable column
// of that name and type exists; *ColumnExistsError when it is another.
func AddColumn(ctx context.Context, t *Table, opt AddColumnOptions) (CommitResult, error) {
	return t.Commit(ctx, opt.Base, CommitOptions{
		Operation: "ADD COLUMNS", Parameters: addColumnParameters(opt),
		Step: opt.Step, Info: opt.Info, Rebuild: appendRetries, Want: WantAppend,
		Metrics: map[string]any{},
	}, func(_ context.Context, base *Snapshot, _ int) ([]log.Action, error) {
		m, err := base.withColumn(opt)
		if err != nil || m == nil {
			return nil, err
		}
		return []log.Action{{Metadata: m}}, nil
	})
}

// CheckColumn says, without writing, whether AddColumn could add a nullable column
// of the name and type to this version: nil also when it is there.
func (s *Snapshot) CheckColumn(name string, t schema.Type) error {
	_, err := s.withColumn(AddColumnOptions{Name: name, Type: t})
	return err
}

func addColumnParameters(opt AddColumnOptions) map[string]any {
	f := schema.Struct{Fields: []schema.Field{{Name: opt.Name, Type: opt.Type, Nullable: true}}}
	var parsed struct{ Fields []json.RawMessage }
	if json.Unmarshal([]byte(f.JSON()), &parsed) != nil || len(parsed.Fields) != 1 {
		return nil // a schema we made ourselves always parses
	}
	return map[string]any{"columns": []any{map[string]any{"column": parsed.Fields[0]}}}
}

// withColumn is the table's metadata with the column; nil when it is there.
func (s *Snapshot) withColumn(opt AddColumnOptions) (*log.Metadata, error) {
	if f, ok := s.schema.Field(opt.Name); ok {
		if f.Nullable && schema.Equal(f.Type, opt.Type) && f.Name == opt.Name {
			return nil, nil
		}
		have := f.Name + " " + f.Type.String()
		if !f.Nullable {
			have += " NOT NULL"
		}
		return nil, &ColumnExistsError{Table: s.table.URL(), Column: f.Name, Have: have, Want: opt.Name + " " + opt.Type.String()}
	}
	if err := s.mayHold(opt.Type); err != nil {
		return nil, fmt.Errorf("%s: column %s: %w", s.table.URL(), opt.Name, err)
	}
	// From the log's own schema string: its metadata must survive to the letter.
	sc, err := schema.Parse(s.state.Metadata.SchemaString)
	if err != nil {
		return nil, err
	}
	f := schema.Field{Name: opt.Name, Type: opt.Type, Nullable: true, Metadata: map[string]json.RawMessage{}}
	if opt.Comment != "" {
		f.Metadata["comment"] = jsonOf(opt.Comment)
	}
	sc.Fields = append(sc.Fields, f)
	m := *s.state.Metadata
	m.Configuration = maps.Clone(m.Configuration)
	if s.mapping != mappingNone {
		highest, err := s.integer(propMaxColumnID, 0)
		if err != nil {
			return nil, err
		}
		sc, highest = assignMapping(sc, highest, s.table.env.NewID)
		m.Configuration[propMaxColumnID] = strconv.FormatInt(highest, 10)
	}
	if err := checkNames(sc, s.mapping != mappingNone); err != nil {
		return nil, fmt.Errorf("%s: %w", s.table.URL(), err)
	}
	m.SchemaString = sc.JSON()
	return &m, nil
}

// mayHold refuses types that need a feature the table lacks.
func (s *Snapshot) mayHold(t schema.Type) error {
	if containsType(t, schema.TimestampNTZ) && !s.supports("timestampNtz") {
		return fmt.Errorf("type %s needs the table feature timestampNtz", t)
	}
	if containsType(t, schema.Variant) || containsType(t, schema.Void) {
		return fmt.Errorf("type %s cannot be added", t)
	}
	return nil
}
