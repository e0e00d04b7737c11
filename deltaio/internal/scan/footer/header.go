package footer

// PageType is the kind of a page.
type PageType int32

// The page types.
const (
	DataPage PageType = iota
	IndexPage
	DictionaryPage
	DataPageV2
)

// Header is a page header.
type Header struct {
	Type             PageType
	UncompressedSize int32
	CompressedSize   int32
	CRC              uint32
	HasCRC           bool
	NumValues        int32
	Encoding         Encoding
	// DefEncoding and RepEncoding are of version 1 data pages.
	DefEncoding, RepEncoding Encoding
	// The rest is of version 2 data pages.
	NumNulls, NumRows    int32
	DefLength, RepLength int32
	Compressed           bool
	hasBody              bool
}

// ParseHeader decodes the page header at the start of b and gives its length.
// more is true when b ended inside the header: try again with a longer window.
func ParseHeader(b []byte) (h Header, n int, more bool, err error) {
	d := &decoder{b: b}
	h.Compressed = true
	seen := d.fields(func(id int16, wire byte) bool { return d.headerField(&h, id, wire) })
	d.require(seen, "page header", 1, 2, 3)
	if h.Type != IndexPage && !h.hasBody {
		d.fail("a page header without its details")
	}
	if d.err != nil {
		return Header{}, 0, d.short, d.err
	}
	return h, d.pos, false, nil
}

func (d *decoder) headerField(h *Header, id int16, wire byte) bool {
	switch {
	case id == 1 && wire == wireI32:
		h.Type = PageType(d.i32())
	case id == 2 && wire == wireI32:
		h.UncompressedSize = d.i32()
	case id == 3 && wire == wireI32:
		h.CompressedSize = d.i32()
	case id == 4 && wire == wireI32:
		h.CRC, h.HasCRC = uint32(d.i32()), true
	case id == 5 && wire == wireStruct && h.Type == DataPage:
		d.require(d.fields(func(id int16, wire byte) bool { return d.dataPage(h, id, wire) }), "data page header", 1, 2, 3, 4)
		h.hasBody = true
	case id == 7 && wire == wireStruct && h.Type == DictionaryPage:
		d.require(d.fields(func(id int16, wire byte) bool { return d.dictPage(h, id, wire) }), "dictionary page header", 1, 2)
		h.hasBody = true
	case id == 8 && wire == wireStruct && h.Type == DataPageV2:
		d.require(d.fields(func(id int16, wire byte) bool { return d.dataPageV2(h, id, wire) }), "data page header", 1, 4, 5, 6)
		h.hasBody = true
	default:
		return false
	}
	return true
}

func (d *decoder) dictPage(h *Header, id int16, wire byte) bool {
	if wire != wireI32 {
		return false
	}
	switch id {
	case 1:
		h.NumValues = d.i32()
	case 2:
		h.Encoding = Encoding(d.i32())
	default:
		return false
	}
	return true
}

func (d *decoder) dataPage(h *Header, id int16, wire byte) bool {
	if wire != wireI32 {
		return false
	}
	switch id {
	case 1:
		h.NumValues = d.i32()
	case 2:
		h.Encoding = Encoding(d.i32())
	case 3:
		h.DefEncoding = Encoding(d.i32())
	case 4:
		h.RepEncoding = Encoding(d.i32())
	default:
		return false
	}
	return true
}

func (d *decoder) dataPageV2(h *Header, id int16, wire byte) bool {
	if id == 7 && (wire == wireTrue || wire == wireFalse) {
		h.Compressed = wire == wireTrue
		return true
	}
	if wire != wireI32 {
		return false
	}
	switch id {
	case 1:
		h.NumValues = d.i32()
	case 2:
		h.NumNulls = d.i32()
	case 3:
		h.NumRows = d.i32()
	case 4:
		h.Encoding = Encoding(d.i32())
	case 5:
		h.DefLength = d.i32()
	case 6:
		h.RepLength = d.i32()
	default:
		return false
	}
	return true
}
