package footer

import "fmt"

// Parse decodes the file metadata. Trailing bytes are tolerated.
func Parse(b []byte) (*Meta, error) {
	d := &decoder{b: b}
	m := &Meta{}
	seen := d.fields(func(id int16, wire byte) bool { return d.metaField(m, id, wire) })
	d.require(seen, "file metadata", 2, 3, 4)
	if d.err != nil {
		return nil, d.err
	}
	if m.encrypted {
		return nil, fmt.Errorf("%w: it is encrypted", ErrUnsupported)
	}
	return m, nil
}

func (d *decoder) metaField(m *Meta, id int16, wire byte) bool {
	switch {
	case id == 2 && wire == wireList:
		d.list(wireStruct, 3, func() { m.Elements = append(m.Elements, d.element()) })
	case id == 3 && wire == wireI64:
		m.NumRows = d.varint()
	case id == 4 && wire == wireList:
		d.list(wireStruct, 4, func() { m.RowGroups = append(m.RowGroups, d.rowGroup()) })
	case id == 5 && wire == wireList:
		m.KeyValue = map[string]string{}
		d.list(wireStruct, 3, func() { d.keyValue(m.KeyValue) })
	case id == 6 && wire == wireBinary:
		m.CreatedBy = d.string()
	case id == 7 && wire == wireList:
		d.list(wireStruct, 1, func() { m.TypeOrdered = append(m.TypeOrdered, d.columnOrder()) })
	case id == 8 && wire == wireStruct:
		m.encrypted = true
		return false
	default:
		return false
	}
	return true
}

func (d *decoder) keyValue(into map[string]string) {
	var k, v string
	d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireBinary:
			k = d.string()
		case id == 2 && wire == wireBinary:
			v = d.string()
		default:
			return false
		}
		return true
	})
	into[k] = v
}

func (d *decoder) columnOrder() (typeDefined bool) {
	d.fields(func(id int16, wire byte) bool {
		typeDefined = typeDefined || id == 1
		return false
	})
	return typeDefined
}

func (d *decoder) element() (e Element) {
	converted, scale, precision := int32(-1), int32(0), int32(0)
	seen := d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireI32:
			e.Type, e.HasType = Type(d.i32()), true
		case id == 2 && wire == wireI32:
			e.TypeLength = d.i32()
		case id == 3 && wire == wireI32:
			e.Repetition = Repetition(d.i32())
		case id == 4 && wire == wireBinary:
			e.Name = d.string()
		case id == 5 && wire == wireI32:
			e.NumChildren = d.i32()
		case id == 6 && wire == wireI32:
			converted = d.i32()
		case id == 7 && wire == wireI32:
			scale = d.i32()
		case id == 8 && wire == wireI32:
			precision = d.i32()
		case id == 9 && wire == wireI32:
			e.FieldID, e.HasFieldID = d.i32(), true
		case id == 10 && wire == wireStruct:
			e.Logical = d.logical()
		default:
			return false
		}
		return true
	})
	d.require(seen, "schema element", 4)
	old := fromConverted(converted, scale, precision)
	switch {
	case e.Logical.Kind == KindNone:
		e.Logical = old
	case contradict(e.Logical, old):
		d.fail("column %s is annotated in two ways that contradict each other", e.Name)
	}
	return e
}

func (d *decoder) rowGroup() (g RowGroup) {
	seen := d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireList:
			d.list(wireStruct, 16, func() { g.Chunks = append(g.Chunks, d.chunk()) })
		case id == 3 && wire == wireI64:
			g.NumRows = d.varint()
		default:
			return false
		}
		return true
	})
	d.require(seen, "row group", 1, 3)
	return g
}

func (d *decoder) chunk() (c Chunk) {
	d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireBinary:
			c.foreignFile = len(d.bytes()) > 0
		case id == 3 && wire == wireStruct:
			c.hasMeta = true
			seen := d.fields(func(id int16, wire byte) bool { return d.chunkMeta(&c, id, wire) })
			d.require(seen, "column chunk", 1, 4, 5, 6, 7, 9)
		case id == 8 && wire == wireStruct:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	return c
}

func (d *decoder) chunkMeta(c *Chunk, id int16, wire byte) bool {
	switch {
	case id == 1 && wire == wireI32:
		c.Type = Type(d.i32())
	case id == 2 && wire == wireList:
		d.list(wireI32, 1, func() { c.Encodings = append(c.Encodings, Encoding(d.i32())) })
	case id == 3 && wire == wireList:
		d.list(wireBinary, 1, func() { c.Path = append(c.Path, d.string()) })
	case id == 4 && wire == wireI32:
		c.Codec = Codec(d.i32())
	case id == 5 && wire == wireI64:
		c.NumValues = d.varint()
	case id == 6 && wire == wireI64:
		c.UncompressedSize = d.varint()
	case id == 7 && wire == wireI64:
		c.CompressedSize = d.varint()
	case id == 9 && wire == wireI64:
		c.DataPageOffset = d.varint()
	case id == 11 && wire == wireI64:
		c.DictPageOffset = d.varint()
	case id == 12 && wire == wireStruct:
		c.Stats = d.statistics()
	default:
		return false
	}
	return true
}

func (d *decoder) statistics() *Statistics {
	s := &Statistics{}
	d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireBinary:
			s.Max = d.bytes()
		case id == 2 && wire == wireBinary:
			s.Min = d.bytes()
		case id == 3 && wire == wireI64:
			s.NullCount, s.HasNullCount = d.varint(), true
		case id == 5 && wire == wireBinary:
			s.MaxValue = d.bytes()
		case id == 6 && wire == wireBinary:
			s.MinValue = d.bytes()
		case id == 7 && (wire == wireTrue || wire == wireFalse):
			s.MaxExact, s.HasMaxExact = wire == wireTrue, true
		case id == 8 && (wire == wireTrue || wire == wireFalse):
			s.MinExact, s.HasMinExact = wire == wireTrue, true
		default:
			return false
		}
		return true
	})
	return s
}
