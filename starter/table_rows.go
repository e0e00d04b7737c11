package main

import (
	"encoding/json"
	"io"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// cellWidth is where a cell of a row is cut unless --full is given.
const cellWidth = 60

// writeLine writes v as one line of JSON, < and > as they are.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// rowPrinter shows rows of a schema.
type rowPrinter struct {
	schema *schema.Struct
	limit  int // 0: none
	full   bool
	// shown is how many rows were shown, more whether there were others.
	shown int
	more  bool
}

// each calls row until the limit is reached.
func (p *rowPrinter) each(recs iter.Seq2[arrow.Record, error], row func(rec arrow.Record, i int) error) error {
	for rec, err := range recs {
		if err != nil {
			return err
		}
		for i := range int(rec.NumRows()) {
			if p.limit > 0 && p.shown == p.limit {
				p.more = true
				break
			}
			if err = row(rec, i); err != nil {
				break
			}
			p.shown++
		}
		rec.Release()
		if err != nil || p.more {
			return err
		}
	}
	return nil
}

// text prints a table.
func (p *rowPrinter) text(w io.Writer, recs iter.Seq2[arrow.Record, error]) error {
	head, width := make([]string, len(p.schema.Fields)), cellWidth
	if p.full {
		width = 0
	}
	for i, f := range p.schema.Fields {
		head[i] = cell(f.Name, 0)
	}
	var rows [][]string
	err := p.each(recs, func(rec arrow.Record, i int) error {
		row := make([]string, len(head))
		for c := range row {
			text, err := valueText(p.schema.Fields[c].Type, rec.Column(c), i)
			if err != nil {
				return err
			}
			row[c] = cell(text, width)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return err
	}
	printGrid(w, head, rows)
	return nil
}

// json prints an array of objects, a row a line, as they come.
func (p *rowPrinter) json(w io.Writer, recs iter.Seq2[arrow.Record, error]) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	var b []byte
	err := p.each(recs, func(rec arrow.Record, i int) (err error) {
		b = append(b[:0], ",\n{"...)
		if p.shown == 0 {
			b = append(b[:0], "\n{"...)
		}
		for c := range p.schema.Fields {
			f := &p.schema.Fields[c]
			if b, err = appendMember(b, c, f.Name, f.Type, rec.Column(c), i); err != nil {
				return err
			}
		}
		_, err = w.Write(append(b, '}'))
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n]\n")
	return err
}
