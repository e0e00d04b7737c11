package activities

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/spec"
)

// checkDelete looks at the key columns of a delete by key.
func (p *planner) checkDelete(context.Context) error {
	d := p.in.Policy.Delete
	if d.Match != spec.MatchKeys {
		return nil
	}
	if err := purge.CheckKeys(p.snap, d.Keys); err != nil {
		p.refuse("delete_keys", "Mend delete.keys.", "%v", err)
	}
	return nil
}
