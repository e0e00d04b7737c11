package footer

// logical decodes the LogicalType union.
func (d *decoder) logical() (l Logical) {
	d.fields(func(id int16, wire byte) bool {
		if wire != wireStruct {
			return false
		}
		switch id {
		case 5:
			l.Kind = KindDecimal
			d.decimal(&l)
		case 7, 8:
			l.Kind = KindTimestamp
			if id == 7 {
				l.Kind = KindTime
			}
			d.timestamp(&l)
		case 10:
			l.Kind = KindInt
			d.integer(&l)
		default:
			l.Kind = KindOther
			if k, ok := plainKinds[id]; ok {
				l.Kind = k
			}
			return false
		}
		return true
	})
	return l
}

// plainKinds are the members of the union without parameters that matter.
var plainKinds = map[int16]Kind{
	1: KindString, 2: KindMap, 3: KindList, 4: KindEnum, 6: KindDate, 11: KindUnknown,
	12: KindJSON, 13: KindBSON, 14: KindUUID, 15: KindFloat16, 16: KindVariant,
}

func (d *decoder) decimal(l *Logical) {
	d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireI32:
			l.Scale = d.i32()
		case id == 2 && wire == wireI32:
			l.Precision = d.i32()
		default:
			return false
		}
		return true
	})
}

func (d *decoder) timestamp(l *Logical) {
	l.Unit = -1
	d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && (wire == wireTrue || wire == wireFalse):
			l.UTC = wire == wireTrue
		case id == 2 && wire == wireStruct:
			d.fields(func(id int16, _ byte) bool {
				if id >= 1 && id <= 3 {
					l.Unit = Unit(id - 1)
				}
				return false
			})
		default:
			return false
		}
		return true
	})
	if l.Unit < 0 && d.err == nil {
		d.fail("a time without a unit")
	}
}

func (d *decoder) integer(l *Logical) {
	d.fields(func(id int16, wire byte) bool {
		switch {
		case id == 1 && wire == wireByte:
			l.Bits = int8(d.byte())
		case id == 2 && (wire == wireTrue || wire == wireFalse):
			l.Signed = wire == wireTrue
		default:
			return false
		}
		return true
	})
}

// fromConverted maps the older ConvertedType; -1 is none.
func fromConverted(c, scale, precision int32) Logical {
	switch c {
	case -1:
		return Logical{}
	case 0:
		return Logical{Kind: KindString}
	case 1, 2: // MAP and MAP_KEY_VALUE
		return Logical{Kind: KindMap}
	case 3:
		return Logical{Kind: KindList}
	case 4:
		return Logical{Kind: KindEnum}
	case 5:
		return Logical{Kind: KindDecimal, Scale: scale, Precision: precision}
	case 6:
		return Logical{Kind: KindDate}
	case 7, 8:
		return Logical{Kind: KindTime, UTC: true, Unit: Unit(c - 7)}
	case 9, 10:
		return Logical{Kind: KindTimestamp, UTC: true, Unit: Unit(c - 9)}
	case 11, 12, 13, 14: // UINT_8 to UINT_64
		return Logical{Kind: KindInt, Bits: 8 << (c - 11)}
	case 15, 16, 17, 18: // INT_8 to INT_64
		return Logical{Kind: KindInt, Bits: int8(8 << (c - 15)), Signed: true}
	case 19:
		return Logical{Kind: KindJSON}
	case 20:
		return Logical{Kind: KindBSON}
	}
	return Logical{Kind: KindOther}
}

// contradict says whether the new and the old annotation of a column, which
// writers leave side by side, disagree on how to read its values. Flipped bits
// in a footer have no checksum to find them; this does.
func contradict(l, old Logical) bool {
	if l.Kind == KindOther || l.Kind == KindUnknown {
		return false
	}
	switch old.Kind {
	case KindDecimal, KindDate:
		return l != old
	case KindTime, KindTimestamp:
		return l.Kind != old.Kind || l.Unit != old.Unit
	case KindInt:
		return l.Kind == KindInt && l != old
	}
	return false
}
