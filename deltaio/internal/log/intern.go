package log

import "sync"

// An interner gives one map for equal partition values or tags. A table of a
// hundred thousand files has a few hundred partitions, and a Go map of one entry
// costs more than the rest of its Add.
type interner struct {
	mu         sync.Mutex
	partitions map[string]map[string]*string
	maps       map[string]map[string]string
}

func newInterner() *interner {
	return &interner{
		partitions: map[string]map[string]*string{},
		maps:       map[string]map[string]string{},
	}
}

// internLimit bounds what is remembered, for tables whose every file is alone
// in its partition.
const internLimit = 1 << 16

// partitionValues gives the map for a key that spells out its content, made by
// build when it is new.
func (in *interner) partitionValues(key []byte, build func() (map[string]*string, error)) (map[string]*string, error) {
	return intern(in, in.partitions, key, build)
}

func (in *interner) strMap(key []byte, build func() (map[string]string, error)) (map[string]string, error) {
	return intern(in, in.maps, key, build)
}

func intern[M any](in *interner, known map[string]M, key []byte, build func() (M, error)) (M, error) {
	in.mu.Lock()
	m, ok := known[string(key)]
	in.mu.Unlock()
	if ok {
		return m, nil
	}
	m, err := build()
	if err != nil {
		return m, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(known) < internLimit {
		known[string(key)] = m
	}
	return m, nil
}
