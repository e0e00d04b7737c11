package scan_test

import (
	"github.com/parquet-go/parquet-go"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// number gives leaves their column indices, depth first.
func (p *phys) number(next *int) {
	if p.value != nil {
		p.column = *next
		*next++
		return
	}
	for i := range p.members {
		p.member(i).number(next)
	}
}

// member is the i-th member in the file's order.
func (p *phys) member(i int) *phys {
	if p.order != nil {
		return p.members[p.order[i]]
	}
	return p.members[i]
}

// drawValue makes a value that the layout can hold.
func (p *phys) drawValue(g *gen) any {
	if p.optional && g.oneIn(4) {
		return nil
	}
	switch p.t.(type) {
	case *schema.Struct:
		row := make([]any, len(p.members))
		for i, m := range p.members {
			row[i] = m.drawValue(g)
		}
		return row
	case *schema.Array:
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = p.members[0].drawValue(g)
		}
		return list
	case *schema.Map:
		entries := make([][2]any, g.IntN(3))
		for i := range entries {
			entries[i] = [2]any{p.members[0].drawValue(g), p.members[1].drawValue(g)}
		}
		return entries
	}
	return p.draw()
}

// shred appends the entries of v to the row (Dremel).
func (p *phys) shred(row *parquet.Row, v any, rep, def, depth int) {
	if p.optional {
		if v == nil {
			p.nulls(row, rep, def)
			return
		}
		def++
	}
	switch p.t.(type) {
	case *schema.Struct:
		for i := range p.members {
			at := p.order[i]
			p.members[at].shred(row, v.([]any)[at], rep, def, depth)
		}
	case *schema.Array:
		for i, e := range v.([]any) {
			p.members[0].shred(row, e, again(i, rep, depth), def+1, depth+1)
		}
		if len(v.([]any)) == 0 {
			p.nulls(row, rep, def)
		}
	case *schema.Map:
		for i, e := range v.([][2]any) {
			p.members[0].shred(row, e[0], again(i, rep, depth), def+1, depth+1)
			p.members[1].shred(row, e[1], again(i, rep, depth), def+1, depth+1)
		}
		if len(v.([][2]any)) == 0 {
			p.nulls(row, rep, def)
		}
	default:
		*row = append(*row, p.value(v).Level(rep, def, p.column))
	}
}

// again is the repetition level of the i-th element.
func again(i, rep, depth int) int {
	if i == 0 {
		return rep
	}
	return depth + 1
}

func (p *phys) nulls(row *parquet.Row, rep, def int) {
	if p.value != nil {
		*row = append(*row, parquet.NullValue().Level(rep, def, p.column))
		return
	}
	for _, m := range p.members {
		m.nulls(row, rep, def)
	}
}
