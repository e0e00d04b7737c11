package evidence

import "strconv"

// Count prints a count, or a version, and one that is not known as "unknown":
// never as 0.
func Count(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}
