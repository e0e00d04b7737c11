package spec

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Path of the key, such as criteria.older_than.days or policies[2].table;
	// empty for the document as a whole.
	Path string `json:"path"`
	// Line in the text, from 1; 0 where there is no text.
	Line int `json:"line,omitempty"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
	// Example is a right form.
	Example string `json:"example,omitempty"`
}

// String gives the problem on one line, or more where the example has more.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	switch {
	case strings.Contains(p.Example, "\n"):
		b.WriteString("\nfor example:\n" + p.Example)
	case p.Example != "":
		b.WriteString("; for example: " + p.Example)
	}
	return b.String()
}

// Problems are everything that is wrong with a document.
type Problems []Problem

// mostListed bounds the text of an error: who has more problems than this has
// given another kind of file.
const mostListed = 50

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	listed := ps[:min(len(ps), mostListed)]
	lines := make([]string, len(listed))
	for i, p := range listed {
		lines[i] = p.String()
	}
	if more := len(ps) - len(listed); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Err is nil where there is no problem, else the problems as an error.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
