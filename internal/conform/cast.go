package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// caster makes the values of one column from those of one source.
type caster struct {
	name     string
	from     string
	typ      spec.SilverType
	arrow    arrow.DataType
	clean    cleaner
	nulls    []string
	values   map[string]string
	fallback string // default, as text
	hasDef   bool
	patterns []pattern
	zone     zoneRead
	number   numberForm
	tried    string // what a date was compared with
	// text appends one cleaned text, or says why it is no value.
	text func(b array.Builder, s string) (code, detail string)
}

// typedNumber is how numbers are written by formats that have numbers.
var typedNumber = numberForm{decimal: ".", exponent: true}

// newCaster compiles a column as a source gives it. typed sources write numbers
// and dates in the standard form, beside the declared ones.
func newCaster(c spec.SilverColumn, s spec.SilverSource, zones spec.ZoneLoader) (*caster, error) {
	t, err := spec.ParseSilverType(c.Type)
	if err != nil {
		return nil, err
	}
	k := &caster{
		name: c.Name, from: c.From, typ: t, clean: newCleaner(c.Clean), nulls: s.Options.NullValues,
		fallback: string(c.Default), hasDef: c.Default != "", number: numberForm{decimal: c.Decimal, grouping: c.Grouping},
	}
	if k.arrow, err = schema.ArrowType(deltaType(t)); err != nil {
		return nil, err
	}
	if len(c.Values) > 0 {
		k.values = map[string]string{}
		for _, p := range c.Values {
			k.values[p.From] = p.To
		}
	}
	if err := k.dates(c, zones); err != nil {
		return nil, err
	}
	k.text = k.textCast()
	if k.hasDef {
		b := array.NewBuilder(memory.DefaultAllocator, k.arrow)
		defer b.Release()
		if code, detail := k.text(b, k.fallback); code != "" {
			return nil, fmt.Errorf("default %q is no %s (%s %s)", k.fallback, c.Type, k.code(code), detail)
		}
	}
	return k, nil
}

func (k *caster) dates(c spec.SilverColumn, zones spec.ZoneLoader) error {
	base := spec.DefaultTwoDigitYearBase
	if c.TwoDigitYearBase != nil {
		base = *c.TwoDigitYearBase
	}
	for _, f := range c.Format {
		p, err := compilePattern(f, base)
		if err != nil {
			return err
		}
		k.patterns = append(k.patterns, p)
	}
	k.tried = strings.Join(c.Format, " or ")
	if k.tried == "" {
		k.tried = "ISO 8601"
	}
	if k.typ.Name == "timestamp" {
		loc := time.UTC
		if c.Timezone != "" && c.Timezone != "UTC" {
			if zones == nil {
				return errors.New("no time zones are at hand")
			}
			var err error
			if loc, err = zones(c.Timezone); err != nil {
				return fmt.Errorf("time zone %s: %w", c.Timezone, err)
			}
		}
		k.zone = zoneRead{loc: loc, policy: c.DST}
	}
	return nil
}

func deltaType(t spec.SilverType) schema.Type {
	if t.Name == "decimal" {
		return schema.Decimal{Precision: t.Precision, Scale: t.Scale}
	}
	return schema.Primitive(t.Name)
}

// code completes the code of a cast.
func (k *caster) code(code string) string {
	if code == "cast" {
		return "cast:" + k.typ.Name
	}
	return code
}

// cast makes the column of a batch. bad is told of each value that is none.
// repaired counts values that cleaning or replacing changed.
func (k *caster) cast(src arrow.Array, rows int, numbers map[int]bool, bad func(row int, r Reason)) (out arrow.Array, repaired int64) {
	if src != nil && arrow.TypeEqual(src.DataType(), k.arrow) && k.plain() {
		src.Retain()
		return src, 0
	}
	b := array.NewBuilder(memory.DefaultAllocator, k.arrow)
	defer b.Release()
	b.Reserve(rows)
	declared := k.number
	texts := newTexts(src)
	for i := range rows {
		raw, null, isText := texts.at(i)
		typed := !isText || numbers[i]
		if typed {
			k.number = typedNumber
		}
		repaired += k.one(b, i, raw, null, typed, bad)
		k.number = declared
	}
	return b.NewArray(), repaired
}

// plain says that values of the column's own type stay as they are.
func (k *caster) plain() bool {
	return !k.hasDef && len(k.clean) == 0 && k.values == nil && (k.typ.Name != "string" || len(k.nulls) == 0)
}

// one appends one value.
func (k *caster) one(b array.Builder, row int, raw string, null, typed bool, bad func(int, Reason)) (repaired int64) {
	s := raw
	null = null || slices.Contains(k.nulls, s)
	if !null {
		s = k.clean.run(s)
		if k.typ.Name != "string" {
			s = trim(s)
		}
		if to, ok := k.values[s]; ok {
			s = to
		}
		if s != raw {
			null = slices.Contains(k.nulls, s)
			repaired = 1
		}
	}
	if null && k.hasDef {
		s, null, typed = k.fallback, false, false
	}
	if null {
		b.AppendNull()
		return 0
	}
	code, detail := k.typedOrText(b, s, typed)
	if code != "" {
		b.AppendNull()
		bad(row, Reason{Code: k.code(code), Column: k.name, Value: shorten(raw), Detail: detail})
	}
	return repaired
}

// typedOrText reads dates of typed sources as ISO 8601, whatever is declared.
func (k *caster) typedOrText(b array.Builder, s string, typed bool) (code, detail string) {
	if typed && len(k.patterns) > 0 {
		saved := k.patterns
		k.patterns = nil
		defer func() { k.patterns = saved }()
	}
	return k.text(b, s)
}

// textCast chooses how a text becomes a value.
func (k *caster) textCast() func(array.Builder, string) (string, string) {
	switch k.typ.Name {
	case "string":
		return func(b array.Builder, s string) (string, string) {
			b.(*array.StringBuilder).Append(s)
			return "", ""
		}
	case "boolean":
		return castBoolean
	case "byte", "short", "integer", "long":
		return k.castInteger
	case "float", "double":
		return k.castFloat
	case "decimal":
		return k.castDecimal
	case "date":
		return k.castDate
	}
	return k.castTimestamp
}

func castBoolean(b array.Builder, s string) (string, string) {
	switch strings.ToLower(s) {
	case "true":
		b.(*array.BooleanBuilder).Append(true)
	case "false":
		b.(*array.BooleanBuilder).Append(false)
	default:
		return "cast", "want true or false; say what others mean with values: {S: \"true\"}"
	}
	return "", ""
}

var widths = map[string]int{"byte": 8, "short": 16, "integer": 32, "long": 64}

func (k *caster) castInteger(b array.Builder, s string) (string, string) {
	v, code := k.number.integer(s, widths[k.typ.Name])
	if code != "" {
		return code, k.numberDetail(code)
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(v)
	}
	return "", ""
}

func (k *caster) castFloat(b array.Builder, s string) (string, string) {
	if f, ok := b.(*array.Float32Builder); ok {
		v, code := k.number.float(s, 32)
		if code != "" {
			return code, k.numberDetail(code)
		}
		f.Append(float32(v))
		return "", ""
	}
	v, code := k.number.float(s, 64)
	if code != "" {
		return code, k.numberDetail(code)
	}
	b.(*array.Float64Builder).Append(v)
	return "", ""
}

func (k *caster) castDecimal(b array.Builder, s string) (string, string) {
	v, code := k.number.fixed(s, k.typ.Precision, k.typ.Scale)
	if code != "" {
		return code, k.numberDetail(code)
	}
	b.(*array.Decimal128Builder).Append(v)
	return "", ""
}

func (k *caster) numberDetail(code string) string {
	switch code {
	case CodeScale:
		return "it has more digits behind the point than the type keeps; it would be rounded"
	case CodeOutOfRange:
		return "it does not fit the type"
	}
	d := "want digits"
	if k.number.decimal != "" {
		d += fmt.Sprintf(", decimal sign %q", k.number.decimal)
	}
	if k.number.grouping != "" {
		d += fmt.Sprintf(", groups of three by %q", k.number.grouping)
	}
	return d
}

// read finds the one meaning of a date: every declared pattern is tried.
func (k *caster) read(s string, same func(a, b wall) bool) (w wall, code, detail string) {
	if len(k.patterns) == 0 {
		w, ok := parseISO(s)
		if !ok {
			return w, "cast", "want ISO 8601"
		}
		return w, "", ""
	}
	found := ""
	for _, p := range k.patterns {
		v, ok := p.parse(s)
		switch {
		case !ok:
		case found == "":
			w, found = v, p.text
		case !same(w, v):
			return w, CodeAmbiguous, fmt.Sprintf("%s and %s both match, with different meanings", found, p.text)
		}
	}
	if found == "" {
		return w, "cast", "want " + k.tried
	}
	return w, "", ""
}

func (k *caster) castDate(b array.Builder, s string) (string, string) {
	w, code, detail := k.read(s, func(a, b wall) bool { return a.days() == b.days() })
	if code != "" {
		return code, detail
	}
	if w.hour|w.minute|w.second|w.micro != 0 || w.hasOffset || w.tooFine {
		return CodeScale, "a date has no time of day; it would be lost"
	}
	b.(*array.Date32Builder).Append(arrow.Date32(w.days()))
	return "", ""
}

func (k *caster) castTimestamp(b array.Builder, s string) (string, string) {
	w, code, detail := k.read(s, func(a, b wall) bool {
		return a.seconds()-int64(a.offset) == b.seconds()-int64(b.offset) && a.micro == b.micro && a.hasOffset == b.hasOffset
	})
	if code != "" {
		return code, detail
	}
	if w.tooFine {
		return CodeScale, "timestamps are kept to the microsecond; the rest would be lost"
	}
	sec := w.seconds()
	switch {
	case k.typ.Name == "timestamp_ntz" && w.hasOffset:
		return "cast", "the column has no zone, the text has an offset, which would be lost"
	case k.typ.Name == "timestamp_ntz":
	case w.hasOffset:
		sec -= int64(w.offset)
	default:
		var why string
		if sec, why = k.zone.instant(sec); why != "" {
			return "cast", why
		}
	}
	b.(*array.TimestampBuilder).Append(arrow.Timestamp(sec*1_000_000 + int64(w.micro)))
	return "", ""
}
