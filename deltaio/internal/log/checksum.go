package log

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Checksum is a version's checksum file, N.crc: what a writer says of the table
// at that version (PROTOCOL.md, "Version Checksum File"). Nothing is read from
// it but to compare: the log alone is the truth.
type Checksum struct {
	TxnID             string // of the commit; "": not told
	TableSizeBytes    int64
	NumFiles          int64
	NumMetadata       int64
	NumProtocol       int64
	InCommitTimestamp *int64 // ms
	SetTransactions   []Txn  // nil: not told
	Domains           []DomainMetadata
	// Metadata and Protocol are nil in files of old writers.
	Metadata *Metadata
	Protocol *Protocol
	// NumDeletedRecords and NumDeletionVectors count what deletion vectors drop;
	// nil: not told.
	NumDeletedRecords, NumDeletionVectors *int64
	// ListsFiles: it holds every add action, with statistics. Ours never do.
	ListsFiles bool
}

// checksumList bounds the lists in a checksum file: it is written with every
// commit.
const checksumList = 100

// maxChecksum bounds what is read: a schema of thousands of columns, or a list
// of files.
const maxChecksum = 256 << 20

// ChecksumKey is the storage key of a version's checksum file.
func ChecksumKey(version int64) string { return fmt.Sprintf("%s%020d.crc", logDir, version) }

// Checksum gives what a checksum file of the state says.
func (st *State) Checksum() *Checksum {
	c := &Checksum{
		NumFiles: int64(len(st.Files)), NumMetadata: 1, NumProtocol: 1, Metadata: st.Metadata, Protocol: st.Protocol,
	}
	var dropped, vectors int64
	for _, a := range st.Files {
		c.TableSizeBytes += a.Size
		if a.DeletionVector != nil {
			dropped, vectors = dropped+a.DeletionVector.Cardinality, vectors+1
		}
	}
	if st.Protocol.HasWriterFeature("deletionVectors") {
		c.NumDeletedRecords, c.NumDeletionVectors = &dropped, &vectors
	}
	if st.InCommitTimestamps() {
		c.InCommitTimestamp = &st.Timestamp
	}
	// Readers may drop entries past this retention, so that no list is right for
	// all of them.
	_, expire := st.Metadata.Configuration["delta.setTransactionRetentionDuration"]
	if !expire && len(st.Txns) <= checksumList {
		c.SetTransactions = sortedTxns(st.Txns)
	}
	if len(st.Domains) <= checksumList {
		c.Domains = sortedDomains(st.Domains)
	}
	return c
}

// WriteChecksum writes the checksum file of the state's version, unless there is
// one. txnID is that of the version's commit.
func WriteChecksum(ctx context.Context, s storage.Store, st *State, txnID string) error {
	c := st.Checksum()
	c.TxnID = txnID
	if err := s.PutIfAbsent(ctx, ChecksumKey(st.Version), c.encode()); err != nil {
		return fmt.Errorf("checksum of version %d: %w", st.Version, err)
	}
	return nil
}

func (c *Checksum) encode() []byte {
	o := openObject(nil)
	if c.TxnID != "" {
		o.str("txnId", c.TxnID)
	}
	o.int("tableSizeBytes", c.TableSizeBytes)
	o.int("numFiles", c.NumFiles)
	o.optInt("numDeletedRecordsOpt", c.NumDeletedRecords)
	o.optInt("numDeletionVectorsOpt", c.NumDeletionVectors)
	o.int("numMetadata", c.NumMetadata)
	o.int("numProtocol", c.NumProtocol)
	o.optInt("inCommitTimestampOpt", c.InCommitTimestamp)
	encodeList(o, "setTransactions", c.SetTransactions, (*Txn).encode)
	encodeList(o, "domainMetadata", c.Domains, (*DomainMetadata).encode)
	o.key("metadata")
	in := openObject(o.b)
	c.Metadata.encode(in)
	o.b = in.close()
	o.key("protocol")
	in = openObject(o.b)
	c.Protocol.encode(in)
	o.b = in.close()
	return append(o.close(), '\n')
}

// encodeList writes objects; nil is absent.
func encodeList[T any](o *object, name string, list []T, write func(*T, *object)) {
	if list == nil {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		in := openObject(o.b)
		write(&list[i], in)
		o.b = in.close()
	}
	o.b = append(o.b, ']')
}

// ReadChecksum reads the checksum file of a version: an error that is
// storage.ErrNotExist when there is none, a *CorruptError when it is damaged.
func ReadChecksum(ctx context.Context, s storage.Store, version int64) (*Checksum, error) {
	key := ChecksumKey(version)
	data, err := storage.ReadAll(ctx, s, key, maxChecksum)
	if err != nil {
		return nil, fmt.Errorf("checksum of version %d: %w", version, err)
	}
	c, err := decodeChecksum(data)
	if err != nil {
		return nil, &CorruptError{Key: key, Reason: "it is no checksum file", Err: err}
	}
	return c, nil
}

// checksumFile has the members that are read as they stand.
type checksumFile struct {
	TxnID              string            `json:"txnId"`
	TableSizeBytes     *int64            `json:"tableSizeBytes"`
	NumFiles           *int64            `json:"numFiles"`
	NumMetadata        *int64            `json:"numMetadata"`
	NumProtocol        *int64            `json:"numProtocol"`
	InCommitTimestamp  *int64            `json:"inCommitTimestampOpt"`
	NumDeletedRecords  *int64            `json:"numDeletedRecordsOpt"`
	NumDeletionVectors *int64            `json:"numDeletionVectorsOpt"`
	SetTransactions    []json.RawMessage `json:"setTransactions"`
	Domains            []json.RawMessage `json:"domainMetadata"`
	Metadata           json.RawMessage   `json:"metadata"`
	Protocol           json.RawMessage   `json:"protocol"`
	AllFiles           json.RawMessage   `json:"allFiles"`
}

func decodeChecksum(data []byte) (*Checksum, error) {
	var f checksumFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	for name, v := range map[string]*int64{
		"tableSizeBytes": f.TableSizeBytes, "numFiles": f.NumFiles, "numMetadata": f.NumMetadata, "numProtocol": f.NumProtocol,
	} {
		if v == nil {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}
	c := &Checksum{
		TxnID: f.TxnID, TableSizeBytes: *f.TableSizeBytes, NumFiles: *f.NumFiles, NumMetadata: *f.NumMetadata, NumProtocol: *f.NumProtocol,
		InCommitTimestamp: f.InCommitTimestamp, NumDeletedRecords: f.NumDeletedRecords, NumDeletionVectors: f.NumDeletionVectors,
		ListsFiles: len(f.AllFiles) > 0 && string(f.AllFiles) != "null",
	}
	return c, c.decodeActions(&f)
}

// decodeActions reads the members that have the form of actions.
func (c *Checksum) decodeActions(f *checksumFile) error {
	one := func(name string, raw json.RawMessage) (a Action, err error) {
		if len(raw) == 0 {
			return a, nil
		}
		d := &decoder{in: newInterner()}
		out, err := d.line(nil, fmt.Appendf(nil, "{%q:%s}", name, raw))
		if err == nil && len(out) == 1 {
			a = out[0]
		}
		return a, err
	}
	m, err := one("metaData", f.Metadata)
	if err != nil {
		return err
	}
	p, err := one("protocol", f.Protocol)
	if err != nil {
		return err
	}
	c.Metadata, c.Protocol = m.Metadata, p.Protocol
	for _, raw := range f.SetTransactions {
		a, err := one("txn", raw)
		if err != nil {
			return err
		}
		if a.Txn != nil {
			c.SetTransactions = append(c.SetTransactions, *a.Txn)
		}
	}
	for _, raw := range f.Domains {
		a, err := one("domainMetadata", raw)
		if err != nil {
			return err
		}
		if a.Domain != nil {
			c.Domains = append(c.Domains, *a.Domain)
		}
	}
	return nil
}
