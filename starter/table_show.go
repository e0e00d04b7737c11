package main

import (
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func (a *app) tableShow() *cobra.Command {
	var at tableAt
	var limit int
	var where string
	var columns []string
	var full bool
	c := &cobra.Command{
		Use: "show TABLE", Short: "Print rows", Args: cobra.ExactArgs(1),
		Long: `Print rows. --where takes the predicates of policies, in which current_date() and the
like are the time of the call in UTC; files and row groups that cannot hold such rows
are not read. Nested values are JSON; decimals and times are exact.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return fmt.Errorf("--limit %d: want a number of rows, 0 for all", limit)
			}
			s, done, err := a.openSnapshot(cmd, args[0], &at)
			defer done()
			if err != nil {
				return err
			}
			opt := deltaio.ScanOptions{Context: expr.Context{Now: a.now()}}
			if cmd.Flags().Changed("columns") {
				opt.Columns = columns
			}
			if where != "" {
				if opt.Where, err = expr.Parse(where); err != nil {
					return fmt.Errorf("--where: %w", err)
				}
			}
			sc, err := chosen(s.Schema(), opt.Columns)
			if err != nil {
				return err
			}
			return a.printRows(s.Scan(cmd.Context(), opt), &rowPrinter{schema: sc, limit: limit, full: full}, s.Version())
		},
	}
	at.flags(c)
	c.Flags().IntVar(&limit, "limit", 20, "rows to print; 0: all")
	c.Flags().StringVar(&where, "where", "", "only rows for which this predicate is true")
	c.Flags().StringSliceVar(&columns, "columns", nil, "only these columns, in this order")
	c.Flags().BoolVar(&full, "full", false, fmt.Sprintf("do not cut values at %d characters", cellWidth))
	return c
}

// printRows prints rows, and says when there are more.
func (a *app) printRows(recs iter.Seq2[arrow.Record, error], p *rowPrinter, version int64) error {
	if a.json {
		return p.json(a.out, recs)
	}
	if err := p.text(a.out, recs); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%d rows of version %d", p.shown, version)
	if p.more {
		fmt.Fprint(a.out, "; there are more, see --limit")
	}
	fmt.Fprintln(a.out)
	return nil
}

// chosen gives the columns of the names, in their order; nil: all.
func chosen(s *schema.Struct, names []string) (*schema.Struct, error) {
	if names == nil {
		return s, nil
	}
	out := &schema.Struct{}
	for _, n := range names {
		f, ok := s.Field(n)
		if !ok {
			return nil, fmt.Errorf("--columns: there is no column %q: see lakewarden table schema", n)
		}
		for _, had := range out.Fields {
			if had.Name == f.Name {
				return nil, fmt.Errorf("--columns: column %q is named twice", n)
			}
		}
		out.Fields = append(out.Fields, *f)
	}
	return out, nil
}
