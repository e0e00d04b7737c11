package storage

// Kinds of Op: one for each call of a Store, a Reader and a Writer.
const (
	OpOpen        = "open"
	OpRead        = "read" // Reader.ReadAt
	OpStat        = "stat"
	OpCreate      = "create"
	OpWrite       = "write"  // Writer.Write
	OpCommit      = "commit" // Writer.Commit
	OpPutIfAbsent = "put-if-absent"
	OpPut         = "put"
	OpList        = "list"       // the whole listing; Key is the prefix
	OpEntry       = "list-entry" // one object of a listing, before it is yielded
	OpDelete      = "delete"
)

// Op is one call to a store, as wrappers see it.
type Op struct {
	Kind string
	Key  string
	// Bytes is what the call moves: asked for before it, moved after it. For a
	// listing it counts the objects yielded.
	Bytes int64
	// Err is the outcome; nil before the call.
	Err error
}

// Writes tells whether the call can change what the store holds.
func (o Op) Writes() bool {
	switch o.Kind {
	case OpCommit, OpPutIfAbsent, OpPut, OpDelete:
		return true
	}
	return false
}
