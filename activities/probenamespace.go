package activities

import (
	"context"
	"slices"
)

// Names of the search attributes that runs set, all of type Keyword.
const (
	AttrTable   = "LakewardenTable"
	AttrRun     = "LakewardenRun"
	AttrStage   = "LakewardenStage"
	AttrOutcome = "LakewardenOutcome"
)

// SearchAttributes lists them.
var SearchAttributes = []string{AttrTable, AttrRun, AttrStage, AttrOutcome}

// ProbeNamespaceResult says what the namespace offers.
type ProbeNamespaceResult struct {
	SearchAttributes bool     `json:"search_attributes"` // it has all of them
	Missing          []string `json:"missing,omitempty"`
}

// ProbeNamespace says whether the namespace has our search attributes, so that
// the answer stands in history.
func (a *Activities) ProbeNamespace(ctx context.Context) (*ProbeNamespaceResult, error) {
	out := &ProbeNamespaceResult{}
	if a.Namespace == nil {
		out.Missing = SearchAttributes
		return out, nil
	}
	have, err := a.Namespace(ctx)
	if err != nil {
		return nil, fail(ctx, err)
	}
	for _, name := range SearchAttributes {
		if !slices.Contains(have, name) {
			out.Missing = append(out.Missing, name)
		}
	}
	out.SearchAttributes = len(out.Missing) == 0
	return out, nil
}
