package pq

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// chunkJob is one source chunk on its way into outputs.
type chunkJob struct {
	rw       *rewriter
	leaf     *leaf
	chunk    *columnChunk
	firstRow int // of the row group, in the file
	rows     int
	raw      []*outPlan
	variants []*variant
	seen     int // rows decoded
}

// variant is a physical form in which some outputs want the values.
type variant struct {
	conv    *conversion
	targets []target
}

type target struct {
	plan  *outPlan
	chunk *chunkWriter
}

// add decides how the chunk gets into p.
func (j *chunkJob) add(p *outPlan) {
	l, m := p.leaves[p.next], &j.chunk.Meta.V
	if p.way == wayWhole && l.conv == nil {
		p.raw.open(l, p.file)
		j.raw = append(j.raw, p)
		if l.inStat && !j.rw.src.answer(l, m, &p.stats[p.next]) {
			p.census.open(l, nil, 0, j.rw.pageBytes)
			j.target(p, &p.census, nil)
		}
		return
	}
	p.decoded = true
	p.chunk.open(l, p.file, p.codecFor(l, m.Codec), j.rw.pageBytes)
	j.target(p, &p.chunk, l.conv)
}

func (j *chunkJob) target(p *outPlan, c *chunkWriter, conv *conversion) {
	for _, v := range j.variants {
		if v.conv == nil && conv == nil || v.conv != nil && conv != nil && v.conv.key == conv.key {
			v.targets = append(v.targets, target{p, c})
			return
		}
	}
	j.variants = append(j.variants, &variant{conv, []target{{p, c}}})
}

func (j *chunkJob) run() error {
	m := &j.chunk.Meta.V
	j.rw.pages.open(j.rw.src, m)
	j.rw.dec.open(j.leaf, m.Codec)
	for {
		p, err := j.rw.pages.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for _, plan := range j.raw {
			if err := plan.raw.page(p); err != nil {
				return err
			}
		}
		if len(j.variants) > 0 {
			if err := j.decode(p); err != nil {
				return fmt.Errorf("page at %d: %w", p.offset, err)
			}
		}
	}
	if len(j.variants) > 0 && j.seen != j.rows {
		return fmt.Errorf("chunk holds %d rows, the row group %d", j.seen, j.rows)
	}
	return nil
}

func (j *chunkJob) decode(p *page) error {
	switch p.header.Type {
	case format.DictionaryPage:
		return j.dictionary(p)
	case format.DataPage, format.DataPageV2:
		return j.data(p)
	}
	return nil
}

func (j *chunkJob) dictionary(p *page) error {
	d, err := j.rw.dec.dictionary(p)
	if err != nil {
		return err
	}
	for _, v := range j.variants {
		vd := d
		if v.conv != nil {
			all := values{n: d.n, fixed: d.fixed, plain: d.plain}
			fixed, err := v.conv.apply(nil, &all)
			if err != nil {
				return err
			}
			vd = &dictionary{n: d.n, width: v.conv.width, fixed: fixed}
		}
		for _, t := range v.targets {
			t.chunk.setDictionary(vd)
		}
	}
	return nil
}

func (j *chunkJob) data(p *page) error {
	dp, err := j.rw.dec.data(p)
	if err != nil {
		return err
	}
	if dp.n > 0 && dp.rep != nil && j.seen == 0 && dp.rep[0] != 0 {
		return fmt.Errorf("chunk does not start with a row")
	}
	row := j.seen
	for _, v := range j.variants {
		vp, l := *dp, *j.leaf
		if v.conv != nil && !dp.vals.coded {
			j.rw.converted, err = v.conv.apply(j.rw.converted[:0], &dp.vals)
			if err != nil {
				return err
			}
			vp.vals = values{n: dp.vals.n, fixed: j.rw.converted, enc: format.Plain}
		}
		if v.conv != nil {
			l.width = v.conv.width
		}
		for _, t := range v.targets {
			t.plan.tookSlowWay(j.leaf, dp.vals.enc)
		}
		j.rw.it.cut(&vp, &l, row, j.rw.pageBytes)
		if err := j.deal(v.targets); err != nil {
			return err
		}
		j.seen = j.rw.it.row
	}
	return nil
}

// deal hands the batches of a page to the outputs.
func (j *chunkJob) deal(targets []target) error {
	for b := j.rw.it.next(); b != nil; b = j.rw.it.next() {
		if b.row+b.rows > j.rows {
			return fmt.Errorf("chunk holds more rows than the %d of the row group", j.rows)
		}
		for _, t := range targets {
			sel, some := t.plan.choose(j.firstRow+b.row, b.rows)
			if !some {
				continue
			}
			if err := t.chunk.append(b, sel); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose gives the selection among rows of the file, nil for all of them; some
// is false when there are none.
func (p *outPlan) choose(row, n int) (sel []byte, some bool) {
	if p.way == wayWhole {
		return nil, true
	}
	switch p.out.Rows.CountRange(row, row+n) {
	case 0:
		return nil, false
	case n:
		return nil, true
	}
	p.sel = p.out.Rows.selectRows(p.sel, row, n)
	return p.sel, true
}

func (j *chunkJob) finish() error {
	for _, p := range j.raw {
		res, err := p.raw.finish(j.rw.src, j.chunk)
		if err != nil {
			return err
		}
		p.file.add(res)
	}
	for _, v := range j.variants {
		for _, t := range v.targets {
			res, err := t.chunk.finish()
			if err != nil {
				return err
			}
			if res != nil {
				t.plan.file.add(res)
			}
			t.plan.stats[t.plan.next].addChunk(t.chunk)
		}
	}
	for _, p := range j.rw.plans {
		if p.nextSource() == j.leaf {
			p.next++
		}
	}
	return nil
}
