package conform

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"sync"
)

// Spill is where rows lie that do not fit the budget.
type Spill interface {
	io.Writer
	// Reopen gives all that was written, from its beginning.
	Reopen() (io.Reader, error)
	// Close forgets it.
	Close() error
}

// partitions is how many parts the keys are cut into by their hash. One at a time
// is looked at whole, so that memory is about the rows of a run by this number.
const partitions = 128

// Dedupe keeps the version of each key that counts. Add is safe for concurrent
// use.
type Dedupe struct {
	budget int
	spill  func() (Spill, error)
	seed   maphash.Seed

	mu      sync.Mutex
	parts   [partitions]part
	held    int
	counts  Counts
	Spilled int64 // bytes that went to Spill
}

type part struct {
	rows  Rows
	spill Spill
}

// NewDedupe makes an empty one. budget bounds the bytes of rows that are held
// before they go to spill; 0: 256 MiB.
func NewDedupe(budget int, spill func() (Spill, error)) *Dedupe {
	if budget <= 0 {
		budget = 256 << 20
	}
	return &Dedupe{budget: budget, spill: spill, seed: maphash.MakeSeed()}
}

// Add takes the rows of a batch.
func (d *Dedupe) Add(rows *Rows) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for row := range rows.All {
		p := &d.parts[maphash.Bytes(d.seed, row.Key)%partitions]
		before := p.rows.Bytes()
		p.rows.Add(row)
		d.held += p.rows.Bytes() - before
	}
	if d.held > d.budget {
		return d.flush()
	}
	return nil
}

// flush writes every part out: parts grow evenly, so that none is worth keeping.
func (d *Dedupe) flush() error {
	for i := range d.parts {
		p := &d.parts[i]
		if p.rows.Bytes() == 0 {
			continue
		}
		if p.spill == nil {
			s, err := d.spill()
			if err != nil {
				return fmt.Errorf("spill: %w", err)
			}
			p.spill = s
		}
		if _, err := p.spill.Write(p.rows.data); err != nil {
			return fmt.Errorf("spill: %w", err)
		}
		d.Spilled += int64(p.rows.Bytes())
		p.rows = Rows{data: p.rows.data[:0]}
	}
	if d.held > 0 {
		d.held = 0
	}
	return nil
}

// Close forgets all rows.
func (d *Dedupe) Close() error {
	var first error
	for i := range d.parts {
		if s := d.parts[i].spill; s != nil {
			if err := s.Close(); err != nil && first == nil {
				first = err
			}
		}
		d.parts[i] = part{}
	}
	return first
}

// Counts are the duplicates, superseded versions and ties, once Winners has
// ended.
func (d *Dedupe) Counts() Counts { return d.counts }

// Winners yields the version of each key that counts. A row is valid until the
// next one. Which it is depends on the set of rows added alone.
func (d *Dedupe) Winners() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		d.counts = Counts{}
		for i := range d.parts {
			data, err := d.parts[i].load()
			if err != nil {
				yield(Row{}, fmt.Errorf("spill: %w", err))
				return
			}
			if !d.part(data, yield) {
				return
			}
			d.parts[i].rows = Rows{}
		}
	}
}

func (p *part) load() ([]byte, error) {
	if p.spill == nil {
		return p.rows.data, nil
	}
	r, err := p.spill.Reopen()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return append(data, p.rows.data...), nil
}

// part finds the winners among the rows of one part.
func (d *Dedupe) part(data []byte, yield func(Row, error) bool) bool {
	var offsets []int
	for at := 0; at < len(data); {
		offsets = append(offsets, at)
		_, at = rowAt(data, at)
	}
	size := 16
	for size < 2*len(offsets) {
		size *= 2
	}
	table := make([]int32, size) // 1 + number of the newest row of a key
	next := make([]int32, len(offsets))
	var heads []int32
	for n, at := range offsets {
		row, _ := rowAt(data, at)
		h := maphash.Bytes(d.seed, row.Key) / partitions
		for slot := int(h) & (size - 1); ; slot = (slot + 1) & (size - 1) {
			if table[slot] == 0 {
				table[slot] = int32(n + 1)
				heads = append(heads, int32(slot))
				break
			}
			if other, _ := rowAt(data, offsets[table[slot]-1]); bytes.Equal(other.Key, row.Key) {
				next[n] = table[slot]
				table[slot] = int32(n + 1)
				break
			}
		}
	}
	for _, slot := range heads {
		n := table[slot] - 1
		row, _ := rowAt(data, offsets[n])
		if next[n] != 0 {
			row = d.group(data, offsets, next, n)
		}
		if !yield(row, nil) {
			return false
		}
	}
	return true
}

// group sorts the versions of one key: copies are neighbours, the greatest is
// last.
func (d *Dedupe) group(data []byte, offsets []int, next []int32, n int32) Row {
	var rows []Row
	for m := n + 1; m != 0; m = next[m-1] {
		row, _ := rowAt(data, offsets[m-1])
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		if c := bytes.Compare(a.Order, b.Order); c != 0 {
			return c
		}
		return int(int64(b.File) - int64(a.File)) // of copies, that of the first file
	})
	last := rows[len(rows)-1]
	tie := false
	for i := range len(rows) - 1 {
		if bytes.Equal(rows[i].Order, rows[i+1].Order) {
			d.counts.Duplicates++
			continue
		}
		d.counts.Superseded++
		tie = tie || bytes.Equal(rows[i].Order[:rows[i].Sequence], last.Order[:last.Sequence])
	}
	if tie {
		d.counts.Ties++
	}
	return last
}
