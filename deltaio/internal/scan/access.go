package scan

import "github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"

// Footer is the file's own description of itself. Read only.
func (f *File) Footer() *footer.File { return f.foot }
