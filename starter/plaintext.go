package main

import (
	"strings"
	"unicode/utf8"
)

// plainText lays out for terminals what workflows write as Markdown for the Web
// UI: headings, emphasis and code marks go, tables become aligned columns, code
// blocks are indented. It knows that Markdown and no other.
func plainText(markdown string) string {
	var out []string
	var rows [][]string
	code := false
	flush := func() {
		out = append(out, columns(rows)...)
		rows = nil
	}
	for _, line := range strings.Split(strings.TrimSpace(markdown), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code:
			out = append(out, "  "+line)
		case strings.HasPrefix(line, "|"):
			if cells := cellsOf(line); cells != nil {
				rows = append(rows, cells)
			}
		default:
			flush()
			line = strings.TrimSpace(strings.TrimLeft(line, "#"))
			out = append(out, inline(line))
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// cellsOf splits a line of a table; nil for its rule and for an empty heading.
func cellsOf(line string) []string {
	const escaped = "\x00"
	line = strings.ReplaceAll(line, `\|`, escaped)
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	empty := true
	for i, c := range cells {
		cells[i] = inline(strings.ReplaceAll(strings.TrimSpace(c), escaped, "|"))
		empty = empty && strings.Trim(cells[i], "-: ") == ""
	}
	if empty {
		return nil
	}
	return cells
}

// inline drops the marks of bold text and code.
func inline(s string) string {
	return strings.NewReplacer("**", "", "`` ", "", " ``", "", "`", "", "<br>", "; ").Replace(s)
}

func columns(rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		var b strings.Builder
		for j, c := range r {
			b.WriteString(c)
			if j < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[j]-utf8.RuneCountInString(c)+2))
			}
		}
		out[i] = strings.TrimRight(b.String(), " ")
	}
	return out
}
