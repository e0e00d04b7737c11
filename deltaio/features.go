package deltaio

import (
	"fmt"
	"slices"
)

// Want is a kind of access that the feature gate judges.
type Want int

// Kinds of access. Each includes the demands of WantRead.
const (
	WantRead       Want = iota // read rows
	WantAppend                 // add rows, columns or entries without touching live files
	WantRewrite                // remove or rewrite live files: mark, delete, restore
	WantVacuum                 // delete files that the log no longer refers to
	WantCheckpoint             // write a checkpoint
)

func (w Want) String() string {
	switch w {
	case WantRead:
		return "read"
	case WantAppend:
		return "append"
	case WantRewrite:
		return "rewrite"
	case WantVacuum:
		return "vacuum"
	case WantCheckpoint:
		return "checkpoint"
	}
	return fmt.Sprintf("Want(%d)", int(w))
}

// UnsupportedError refuses an access because of a feature of the table.
type UnsupportedError struct {
	Table   string
	Feature string // the protocol's name of the feature
	Want    Want
	Why     string
	Do      string // what the operator can do
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s refused: table feature %s: %s; %s", e.Table, e.Want, e.Feature, e.Why, e.Do)
}

// answer is what a feature says to an access: nil Why means fine.
type answer struct{ why, do string }

// rule judges one kind of access on a table that supports the feature. It looks
// at what is active: a feature that is listed and unused asks for nothing.
type rule func(*Snapshot) *answer

// feature is one row of the table: what it asks of each kind of access, and what
// we do. A nil rule means that the access is supported, whatever is active.
type feature struct {
	name string
	// reader: the name is listed in readerFeatures too.
	reader bool
	// legacyReader and legacyWriter are the protocol versions that imply the
	// feature; 0: none does.
	legacyReader, legacyWriter int32
	// asks and does document the row.
	asks, does string

	read, append, rewrite, vacuum, checkpoint rule
}

func (f *feature) rule(w Want) rule {
	return [...]rule{f.read, f.append, f.rewrite, f.vacuum, f.checkpoint}[w]
}

// Check says whether the access is supported: nil or an *UnsupportedError. Read
// is always judged as well, since a writer reads before it writes.
func (s *Snapshot) Check(w Want) error {
	if a := s.judgeVersions(w); a != nil {
		return s.refuse("protocol", w, a)
	}
	for _, name := range s.unknownFeatures(w) {
		return s.refuse(name, w, &answer{"it is not known to this program",
			"upgrade lakewarden, or use the engine that added the feature"})
	}
	for i := range featureTable {
		f := &featureTable[i]
		if !s.supports(f.name) {
			continue
		}
		for _, judged := range []Want{WantRead, w} {
			if r := f.rule(judged); r != nil {
				if a := r(s); a != nil {
					return s.refuse(f.name, w, a)
				}
			}
		}
	}
	return nil
}

func (s *Snapshot) refuse(feature string, w Want, a *answer) error {
	return &UnsupportedError{Table: s.table.URL(), Feature: feature, Want: w, Why: a.why, Do: a.do}
}

// judgeVersions refuses protocol versions beyond the last published ones (3 and
// 7) and actions that break the protocol's own rules.
func (s *Snapshot) judgeVersions(w Want) *answer {
	p := s.state.Protocol
	upgrade := "upgrade lakewarden, or use the engine that raised the version"
	switch {
	case p.MinReaderVersion < 1 || p.MinReaderVersion > 3:
		return &answer{fmt.Sprintf("reader version %d is not known", p.MinReaderVersion), upgrade}
	case w == WantRead:
		return nil
	case p.MinWriterVersion < 1 || p.MinWriterVersion > 7:
		return &answer{fmt.Sprintf("writer version %d is not known", p.MinWriterVersion), upgrade}
	case p.MinReaderVersion == 3 && p.MinWriterVersion != 7:
		return &answer{"reader version 3 needs writer version 7", "repair the table's protocol action with the engine that wrote it"}
	}
	return nil
}

// unknownFeatures lists names without a row: of readerFeatures for any access,
// of writerFeatures for every write.
func (s *Snapshot) unknownFeatures(w Want) []string {
	p := s.state.Protocol
	names := slices.Clone(p.ReaderFeatures)
	if w != WantRead {
		names = append(names, p.WriterFeatures...)
	}
	return slices.DeleteFunc(names, func(n string) bool { return featureNamed(n) != nil })
}

func featureNamed(name string) *feature {
	for i := range featureTable {
		if featureTable[i].name == name {
			return &featureTable[i]
		}
	}
	return nil
}

// supports says whether the protocol lists the feature or its versions imply it.
func (s *Snapshot) supports(name string) bool {
	p := s.state.Protocol
	if slices.Contains(p.WriterFeatures, name) || slices.Contains(p.ReaderFeatures, name) {
		return true
	}
	f := featureNamed(name)
	if f == nil {
		return false
	}
	// Version 7 lists its features one by one; reader version 2 implies column
	// mapping whatever the writer version.
	impliedByWriter := f.legacyWriter > 0 && p.MinWriterVersion >= f.legacyWriter && p.MinWriterVersion < 7
	impliedByReader := f.legacyReader > 0 && p.MinReaderVersion == f.legacyReader
	return impliedByWriter || impliedByReader
}

// FeatureInfo is a row of the feature table for people: what a feature of the
// protocol asks for, and what this program does.
type FeatureInfo struct {
	Name       string
	Reader     bool // readers must know it too
	Asks, Does string
}

// Features lists the feature table. A name that is not in it is refused: for
// every access when it is among the table's readerFeatures, else for writes.
func Features() []FeatureInfo {
	out := make([]FeatureInfo, len(featureTable))
	for i := range featureTable {
		f := &featureTable[i]
		out[i] = FeatureInfo{f.name, f.reader, f.asks, f.does}
	}
	return out
}
