package log

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// A decoder turns lines of a commit into actions.
type decoder struct {
	in       *interner
	skipInfo bool // leave commitInfo out: replay needs none
}

// line appends the actions of one line. A line holds one known action; unknown
// ones may stand beside it, as writers of the future may do.
func (d *decoder) line(dst []Action, line []byte) ([]Action, error) {
	c := &cursor{b: line}
	known := 0
	err := c.object(func(name string) error {
		if c.null() {
			return nil
		}
		a, skip, err := d.action(c, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if a.Unknown == nil {
			known++
		}
		if !skip {
			dst = append(dst, a)
		}
		return nil
	})
	if err == nil {
		err = c.end()
	}
	if err == nil && known > 1 {
		err = errors.New("two actions on one line")
	}
	return dst, err
}

func (d *decoder) action(c *cursor, name string) (a Action, skip bool, err error) {
	switch name {
	case "add":
		a.Add, err = d.add(c)
	case "remove":
		a.Remove, err = d.remove(c)
	case "cdc":
		a.CDC, err = d.cdc(c)
	case "metaData":
		a.Metadata, err = d.metadata(c)
	case "protocol":
		a.Protocol, err = d.protocol(c)
	case "txn":
		a.Txn, err = d.txn(c)
	case "domainMetadata":
		a.Domain, err = d.domain(c)
	case "sidecar":
		a.Sidecar, err = d.sidecar(c)
	case "checkpointMetadata":
		a.CheckpointMetadata, err = d.checkpointMetadata(c)
	case "commitInfo":
		if d.skipInfo {
			return a, true, c.skip()
		}
		a.CommitInfo, err = d.commitInfo(c)
	default:
		var raw []byte
		raw, err = c.raw()
		a.Unknown = &UnknownAction{Name: name, Raw: bytes.Clone(raw)}
	}
	return a, false, err
}

// fields reads an object whose members are handled by known; the others go to
// Extra. A null member is an absent one.
func fields(c *cursor, known func(key string) (bool, error)) (Extra, error) {
	var extra Extra
	err := c.object(func(key string) error {
		if c.null() {
			return nil
		}
		ok, err := known(key)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if ok {
			return nil
		}
		raw, err := c.raw()
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if extra == nil {
			extra = Extra{}
		}
		extra[key] = bytes.Clone(raw)
		return nil
	})
	return extra, err
}

func (d *decoder) add(c *cursor) (*Add, error) {
	a := &Add{DataChange: true}
	size := false
	var err error
	a.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "path":
			a.Path, err = c.str()
		case "partitionValues":
			a.PartitionValues, err = d.partitionValues(c)
		case "size":
			a.Size, err = c.int64()
			size = true
		case "modificationTime":
			a.ModificationTime, err = c.int64()
		case "dataChange":
			a.DataChange, err = c.bool()
		case "stats":
			a.Stats, err = c.str()
		case "tags":
			a.Tags, err = d.internedMap(c)
		case "deletionVector":
			a.DeletionVector, err = deletionVector(c)
		case "baseRowId":
			a.BaseRowID, err = optInt(c)
		case "defaultRowCommitVersion":
			a.DefaultRowCommitVersion, err = optInt(c)
		case "clusteringProvider":
			a.ClusteringProvider, err = optStr(c)
		default:
			ok = false
		}
		return ok, err
	})
	switch {
	case err != nil:
		return nil, err
	case a.Path == "":
		return nil, errors.New("no path")
	case !size:
		return nil, fmt.Errorf("%s: no size", a.Path)
	case a.PartitionValues == nil:
		a.PartitionValues = map[string]*string{}
	}
	return a, nil
}

func (d *decoder) remove(c *cursor) (*Remove, error) {
	r := &Remove{DataChange: true}
	var err error
	r.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "path":
			r.Path, err = c.str()
		case "deletionTimestamp":
			r.DeletionTimestamp, err = optInt(c)
		case "dataChange":
			r.DataChange, err = c.bool()
		case "extendedFileMetadata":
			r.ExtendedFileMetadata, err = optBool(c)
		case "partitionValues":
			r.PartitionValues, err = d.partitionValues(c)
		case "size":
			r.Size, err = optInt(c)
		case "stats":
			r.Stats, err = c.str()
		case "tags":
			r.Tags, err = d.internedMap(c)
		case "deletionVector":
			r.DeletionVector, err = deletionVector(c)
		case "baseRowId":
			r.BaseRowID, err = optInt(c)
		case "defaultRowCommitVersion":
			r.DefaultRowCommitVersion, err = optInt(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && r.Path == "" {
		err = errors.New("no path")
	}
	return r, err
}

func (d *decoder) cdc(c *cursor) (*AddCDCFile, error) {
	f := &AddCDCFile{}
	var err error
	f.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "path":
			f.Path, err = c.str()
		case "partitionValues":
			f.PartitionValues, err = d.partitionValues(c)
		case "size":
			f.Size, err = c.int64()
		case "dataChange":
			f.DataChange, err = c.bool()
		case "tags":
			f.Tags, err = d.internedMap(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && f.Path == "" {
		err = errors.New("no path")
	}
	return f, err
}

func deletionVector(c *cursor) (*DeletionVector, error) {
	v := &DeletionVector{}
	size, cardinality := false, false
	var err error
	v.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "storageType":
			v.StorageType, err = c.str()
		case "pathOrInlineDv":
			v.PathOrInlineDv, err = c.str()
		case "offset":
			var n int32
			n, err = c.int32()
			v.Offset = &n
		case "sizeInBytes":
			v.SizeInBytes, err = c.int32()
			size = true
		case "cardinality":
			v.Cardinality, err = c.int64()
			cardinality = true
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && (v.StorageType == "" || v.PathOrInlineDv == "" || !size || !cardinality) {
		err = errors.New("incomplete: want storageType, pathOrInlineDv, sizeInBytes and cardinality")
	}
	return v, err
}

func (c *cursor) int32() (int32, error) {
	v, err := c.int64()
	if err == nil && (v < math.MinInt32 || v > math.MaxInt32) {
		err = c.fail(fmt.Sprintf("%d is no 32-bit integer", v))
	}
	return int32(v), err
}

func optInt(c *cursor) (*int64, error) {
	v, err := c.int64()
	return &v, err
}

func optBool(c *cursor) (*bool, error) {
	v, err := c.bool()
	return &v, err
}

func optStr(c *cursor) (*string, error) {
	v, err := c.str()
	return &v, err
}

// partitionValues reads the map, nulls included. Equal ones are one map.
func (d *decoder) partitionValues(c *cursor) (map[string]*string, error) {
	raw, err := c.raw()
	if err != nil {
		return nil, err
	}
	return d.in.partitionValues(raw, func() (map[string]*string, error) {
		m := map[string]*string{}
		in := &cursor{b: raw}
		return m, in.object(func(key string) error {
			if in.null() {
				m[key] = nil
				return nil
			}
			v, err := in.str()
			m[key] = &v
			return err
		})
	})
}

func (d *decoder) internedMap(c *cursor) (map[string]string, error) {
	raw, err := c.raw()
	if err != nil {
		return nil, err
	}
	return d.in.strMap(raw, func() (map[string]string, error) { return strMap(&cursor{b: raw}) })
}

// strMap reads a map of strings; a null value is an absent one.
func strMap(c *cursor) (map[string]string, error) {
	m := map[string]string{}
	return m, c.object(func(key string) error {
		if c.null() {
			return nil
		}
		v, err := c.str()
		m[key] = v
		return err
	})
}

func strList(c *cursor) ([]string, error) {
	list := []string{}
	return list, c.array(func() error {
		s, err := c.str()
		list = append(list, s)
		return err
	})
}
