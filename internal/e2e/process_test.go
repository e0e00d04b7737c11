package e2e_test

import "time"

// pause lets a server come up between two looks at it.
func pause(d time.Duration) { <-time.After(d) }
