package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/olekukonko/tablewriter"
	"golang.org/x/term"
)

// print writes v as JSON where asked, else what text writes.
func (a *app) print(v any, text func(w io.Writer)) error {
	if !a.json {
		text(a.out)
		return nil
	}
	return writeJSON(a.out, v)
}

// writeJSON writes v for people and programs: indented, < and > as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// moment prints a time in UTC, and one that is not set as nothing.
func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// printTable prints rows under headings.
func printTable(w io.Writer, head []string, rows [][]string) {
	t := tablewriter.NewWriter(w)
	t.Header(head)
	if err := t.Bulk(rows); err != nil {
		fmt.Fprintln(w, err)
		return
	}
	if err := t.Render(); err != nil {
		fmt.Fprintln(w, err)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
