package spec

import "strings"

// nearest is the name most like wrong, or "" where none is near: at most a third
// of the letters differ, or one is the beginning of the other.
func nearest(wrong string, names []string) string {
	if len(wrong) > 100 {
		return "" // not a typing error, and the comparison is quadratic
	}
	best, least := "", len(wrong)/3+1
	for _, name := range names {
		if d := distance(fold(wrong), fold(name)); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
	}
	if best != "" {
		return best
	}
	for _, name := range names {
		short, long := fold(wrong), fold(name)
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) >= 2 && strings.HasPrefix(long, short) {
			return name
		}
	}
	return ""
}

// fold drops what people mix up first: case, dashes and underscores.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// distance counts the letters to insert, delete or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
