package log

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// ChecksumError: what the log gives of a version is not what its checksum file
// says, so that an object of the log was changed after the fact. It comes inside
// a *CorruptError.
type ChecksumError struct {
	Version int64
	Differs []string
}

func (e *ChecksumError) Error() string { return strings.Join(e.Differs, "; ") }

// checked replays the commits after a base and compares the result with the
// version's checksum file, if there is one that parses. Commits and checkpoints
// have no checksum of their own: a flipped bit can turn an action into one that
// nobody knows, and a checkpoint can lie under another's name.
func (l *listing) checked(ctx context.Context, s storage.Store, base *State, version int64) (*State, error) {
	st, err := l.replay(ctx, s, base, version)
	if err != nil {
		return nil, err
	}
	if _, there := slices.BinarySearch(l.checksums, version); !there {
		return st, nil
	}
	sum, err := ReadChecksum(ctx, s, version)
	var damage *CorruptError
	switch {
	case errors.Is(err, storage.ErrNotExist), errors.As(err, &damage):
		return st, nil // it proves nothing
	case err != nil:
		return nil, err
	case sum.Metadata != nil && sum.Metadata.ID != st.Metadata.ID:
		return st, nil // left behind by a table that was dropped and made anew
	}
	if differs := sum.Differs(st); len(differs) > 0 {
		return nil, &CorruptError{
			Key: ChecksumKey(version), Reason: "version " + fmt.Sprint(version) + " is not what its checksum file says: the log was changed after the fact, or the file is wrong; bring the log back, or remove the file where the log is right",
			Err: &ChecksumError{Version: version, Differs: differs},
		}
	}
	return st, nil
}

// Differs names what the checksum says of its version and the state does not:
// where there is anything, the log was changed after the fact, or the checksum's
// writer was wrong. Members that it leaves out are not compared.
func (c *Checksum) Differs(st *State) []string {
	var out []string
	number := func(name string, said *int64, is int64) {
		if said != nil && *said != is {
			out = append(out, fmt.Sprintf("%s is %d, the checksum says %d", name, is, *said))
		}
	}
	now := st.Checksum()
	number("tableSizeBytes", &c.TableSizeBytes, now.TableSizeBytes)
	number("numFiles", &c.NumFiles, now.NumFiles)
	number("numMetadata", &c.NumMetadata, 1)
	number("numProtocol", &c.NumProtocol, 1)
	if st.InCommitTimestamps() {
		number("inCommitTimestamp", c.InCommitTimestamp, st.Timestamp)
	}
	if now.NumDeletionVectors != nil {
		number("numDeletedRecords", c.NumDeletedRecords, *now.NumDeletedRecords)
		number("numDeletionVectors", c.NumDeletionVectors, *now.NumDeletionVectors)
	}
	if c.Metadata != nil && !sameMetadata(c.Metadata, now.Metadata) {
		out = append(out, "metadata is not what the checksum says")
	}
	if c.Protocol != nil && !sameProtocol(c.Protocol, now.Protocol) {
		out = append(out, "protocol is not what the checksum says")
	}
	if c.SetTransactions != nil && now.SetTransactions != nil && !sameTxns(c.SetTransactions, st.Txns) {
		out = append(out, "application transactions are not what the checksum says")
	}
	if c.Domains != nil && !sameDomains(c.Domains, st.Domains) {
		out = append(out, "metadata domains are not what the checksum says")
	}
	return out
}

// sameMetadata compares what would be written, but for members that only one
// writer knows.
func sameMetadata(a, b *Metadata) bool {
	plain := func(m Metadata) map[string]any {
		m.Extra = nil
		o := openObject(nil)
		m.encode(o)
		var out map[string]any
		if json.Unmarshal(o.close(), &out) != nil {
			return nil
		}
		return out
	}
	return reflect.DeepEqual(plain(*a), plain(*b))
}

func sameProtocol(a, b *Protocol) bool {
	set := func(names []string) map[string]bool {
		out := map[string]bool{}
		for _, n := range names {
			out[n] = true
		}
		return out
	}
	return a.MinReaderVersion == b.MinReaderVersion && a.MinWriterVersion == b.MinWriterVersion &&
		reflect.DeepEqual(set(a.ReaderFeatures), set(b.ReaderFeatures)) && reflect.DeepEqual(set(a.WriterFeatures), set(b.WriterFeatures))
}

func sameTxns(said []Txn, is map[string]Txn) bool {
	for _, t := range said {
		if got, ok := is[t.AppID]; !ok || got.Version != t.Version {
			return false
		}
	}
	return len(said) == len(is)
}

func sameDomains(said []DomainMetadata, is map[string]DomainMetadata) bool {
	n := 0
	for _, d := range said {
		if d.Removed {
			continue
		}
		if got, ok := is[d.Domain]; !ok || got.Configuration != d.Configuration {
			return false
		}
		n++
	}
	return n == len(is)
}
