package expr

import (
	"sort"
	"strings"
)

// near gives up to three names that a mistyped one may have meant: those at the
// smallest distance.
func near(name string, names []string) []string {
	type scored struct {
		name string
		dist int
	}
	var out []scored
	low := strings.ToLower(name)
	for _, n := range names {
		d := editDistance(low, strings.ToLower(n))
		contains := len(low) > 2 && strings.Contains(strings.ToLower(n), low)
		if d <= max(2, len(low)/3) && d < len(low) || contains {
			out = append(out, scored{n, d})
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].dist != out[j].dist {
			return out[i].dist < out[j].dist
		}
		return out[i].name < out[j].name
	})
	var best []string
	for _, s := range out[:min(3, len(out))] {
		if s.dist == out[0].dist {
			best = append(best, s.name)
		}
	}
	return best
}

// editDistance is Levenshtein's, over bytes, of short names.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diag := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
