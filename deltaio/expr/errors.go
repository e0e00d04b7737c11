package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// source is the text that nodes point into.
type source struct{ text string }

// SyntaxError says where a text is not an expression.
type SyntaxError struct {
	Pos    int    // byte offset in Text
	Line   int    // 1-based
	Column int    // 1-based, in characters of its line
	Msg    string // what is wrong there
	Text   string // the whole text
}

// Error gives the message, the place and the line with a caret below it.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("expression, line %d, column %d: %s%s", e.Line, e.Column, e.Msg, excerpt(e.Text, e.Pos))
}

// BindError says why an expression does not fit a schema.
type BindError struct {
	Pos    int // byte offset in Text
	Line   int // 1-based
	Column int // 1-based, in characters of its line
	Msg    string
	Text   string
	// Candidates are known names near an unknown one, nearest first.
	Candidates []string
}

// Error gives the message, the place and the line with a caret below it.
func (e *BindError) Error() string {
	msg := e.Msg
	if len(e.Candidates) > 0 {
		msg += "; did you mean " + strings.Join(e.Candidates, ", ") + "?"
	}
	return fmt.Sprintf("expression, line %d, column %d: %s%s", e.Line, e.Column, msg, excerpt(e.Text, e.Pos))
}

func (s *source) syntax(pos int, format string, args ...any) error {
	line, col := lineColumn(s.text, pos)
	return &SyntaxError{Pos: pos, Line: line, Column: col, Msg: fmt.Sprintf(format, args...), Text: s.text}
}

// bindError is the refusal of a node, pointing at it.
func (n *node) bindError(format string, args ...any) *BindError {
	line, col := lineColumn(n.src.text, n.pos)
	return &BindError{Pos: n.pos, Line: line, Column: col, Msg: fmt.Sprintf(format, args...), Text: n.src.text}
}

func lineColumn(text string, pos int) (line, col int) {
	before := text[:pos]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// excerptWidth bounds the line shown, so that an error about a long text stays
// readable.
const excerptWidth = 120

// excerpt gives the line at pos with a caret below the place.
func excerpt(text string, pos int) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	start := strings.LastIndexByte(text[:pos], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
		end = pos + i
	}
	before, after := []rune(text[start:pos]), []rune(text[pos:end])
	lead, tail := "", ""
	if len(before) > excerptWidth/2 {
		before, lead = before[len(before)-excerptWidth/2:], "…"
	}
	if len(after) > excerptWidth/2 {
		after, tail = after[:excerptWidth/2], "…"
	}
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, lead+string(before))
	return "\n  " + lead + string(before) + string(after) + tail + "\n  " + pad + "^"
}
