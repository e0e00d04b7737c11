package scan_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// A model of rows that is independent of Arrow and of the reader: values are
// nil, bool, int64, float64, string, []byte, *big.Int (unscaled decimals),
// []any (structs and arrays) and [][2]any (maps).

// memFile is a storage.Reader over bytes.
type memFile struct {
	*bytes.Reader
	key string
}

func (m memFile) Close() error { return nil }
func (m memFile) Info() storage.Info {
	return storage.Info{Key: m.key, Size: m.Size(), ModTime: time.Unix(0, 0)}
}

func inMemory(b []byte) memFile { return memFile{bytes.NewReader(b), "part-1.parquet"} }

// modelText is the row encoding, written anew from its description.
func modelText(t schema.Type, v any) string {
	if v == nil || t == schema.Void {
		return "null"
	}
	switch x := t.(type) {
	case schema.Decimal:
		return "m" + plainDecimal(v.(*big.Int), x.Scale)
	case *schema.Struct:
		return modelRow(x, v.([]any))
	case *schema.Array:
		var parts []string
		for _, e := range v.([]any) {
			parts = append(parts, modelText(x.Element, e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *schema.Map:
		var parts []string
		for _, e := range v.([][2]any) {
			parts = append(parts, modelText(x.Key, e[0])+"="+modelText(x.Value, e[1]))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch t {
	case schema.Boolean:
		return fmt.Sprint(v)
	case schema.Float:
		if f := v.(float64); f == f {
			return fmt.Sprintf("f%08x", math.Float32bits(float32(f)))
		}
		return "fnan"
	case schema.Double:
		if f := v.(float64); f == f {
			return fmt.Sprintf("d%016x", math.Float64bits(f))
		}
		return "dnan"
	case schema.String:
		return fmt.Sprintf("s%d:%s", len(v.(string)), v)
	case schema.Binary:
		return fmt.Sprintf("b%d:%s", len(v.([]byte)), hex.EncodeToString(v.([]byte)))
	case schema.Date:
		return fmt.Sprintf("D%d", v)
	case schema.Timestamp:
		return fmt.Sprintf("T%d", v)
	case schema.TimestampNTZ:
		return fmt.Sprintf("N%d", v)
	}
	return fmt.Sprint(v)
}

func modelRow(s *schema.Struct, row []any) string {
	var parts []string
	for i, f := range s.Fields {
		parts = append(parts, modelText(f.Type, row[i]))
	}
	return "(" + strings.Join(parts, ",") + ")"
}

func plainDecimal(v *big.Int, scale int) string {
	digits := new(big.Int).Abs(v).String()
	digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
	out := digits[:len(digits)-scale]
	if scale > 0 {
		out += "." + digits[len(digits)-scale:]
	}
	if v.Sign() < 0 {
		out = "-" + out
	}
	return out
}

// gen draws random types and values.
type gen struct {
	*rand.Rand
	repeats bool // few distinct values: dictionaries and runs
}

func newGen(seed uint64) *gen {
	r := rand.New(rand.NewPCG(seed, 7))
	return &gen{r, r.IntN(2) == 0}
}

func (g *gen) oneIn(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *gen, xs ...T) T { return xs[g.IntN(len(xs))] }

// integer draws from all of bits bits, with the extremes often.
func (g *gen) integer(bits int) int64 {
	switch {
	case g.repeats:
		return int64(g.IntN(3)) - 1
	case g.oneIn(8):
		return -1 << (bits - 1)
	case g.oneIn(8):
		return 1<<(bits-1) - 1
	}
	return int64(g.Uint64()) >> (64 - bits) >> g.IntN(bits)
}

// micros draws times that nanoseconds can tell as well.
func (g *gen) micros() int64 {
	if g.repeats {
		return int64(g.IntN(3)) * 1_000_000
	}
	return g.Int64N(2*9e15) - 9e15
}

func (g *gen) text() string {
	if g.repeats {
		return pick(g, "", "a", "ü", "something longer than a word")
	}
	n := g.IntN(6)
	if g.oneIn(10) {
		n = g.IntN(200)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + g.IntN(4))
	}
	return string(b)
}

func (g *gen) float() float64 {
	switch g.IntN(8) {
	case 0:
		return math.NaN()
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return math.Inf(-1)
	}
	return float64(float32(g.NormFloat64() * 1e6))
}

// unscaled draws a decimal of at most digits digits.
func (g *gen) unscaled(digits int) *big.Int {
	n := 1 + g.IntN(digits)
	if g.repeats {
		n = 1
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	if g.oneIn(6) {
		n = digits
		limit.Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
		limit.Sub(limit, big.NewInt(1))
	} else {
		b := new(big.Int).SetUint64(g.Uint64())
		b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(g.Uint64()))
		limit.Mod(b, limit)
	}
	if g.oneIn(2) {
		limit.Neg(limit)
	}
	return limit
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
