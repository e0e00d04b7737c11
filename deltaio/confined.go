package deltaio

import (
	"context"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// OutsideError: the table needs, or shows, objects that lie outside its root.
// They can be neither listed nor accounted for, and are not ours to delete.
type OutsideError struct {
	Table string
	// Names are some of them, each with the reason; Count is how many were found
	// before the search ended.
	Names []string
	Count int
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s: %d of its objects lie outside the table's root: %s; bring them under the root (copy the files, or clone the table deeply) and remove the links",
		e.Table, e.Count, strings.Join(e.Names, "; "))
}

// maxOutside bounds the names in an OutsideError.
const maxOutside = 5

// CheckConfined makes sure that all of the table lies under its root: live files
// and deletion vectors with absolute paths elsewhere (as shallow clones have
// them) and links that lead out or stand for a directory end in an
// *OutsideError. It opens no file.
func (s *Snapshot) CheckConfined(ctx context.Context) error {
	e := &OutsideError{Table: s.table.URL()}
	for _, a := range s.state.Files {
		_, err := fileKeys(s.table.URL(), a)
		switch {
		case outside(err):
			e.note(fmt.Sprintf("the log names %v", err))
		case err != nil:
			return fmt.Errorf("%s: version %d: %w", s.table.URL(), s.Version(), err)
		}
	}
	links, err := storage.Links(ctx, s.table.store, maxOutside)
	if err != nil {
		return fmt.Errorf("%s: %w", s.table.URL(), err)
	}
	for _, l := range links {
		e.note(l.Key + ": " + l.Why)
	}
	if e.Count > 0 {
		return e
	}
	return nil
}

func (e *OutsideError) note(name string) {
	if e.Count++; len(e.Names) < maxOutside {
		e.Names = append(e.Names, name)
	}
}
