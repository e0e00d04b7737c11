package log

import (
	"bytes"
	"encoding/json"
	"errors"
)

// The actions that speak of the table as a whole.

func (d *decoder) metadata(c *cursor) (*Metadata, error) {
	m := &Metadata{Configuration: map[string]string{}, PartitionColumns: []string{}}
	var err error
	m.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "id":
			m.ID, err = c.str()
		case "name":
			m.Name, err = optStr(c)
		case "description":
			m.Description, err = optStr(c)
		case "format":
			m.Format, err = readFormat(c)
		case "schemaString":
			m.SchemaString, err = c.str()
		case "partitionColumns":
			m.PartitionColumns, err = strList(c)
		case "createdTime":
			m.CreatedTime, err = optInt(c)
		case "configuration":
			m.Configuration, err = strMap(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && m.SchemaString == "" {
		err = errors.New("no schemaString")
	}
	return m, err
}

func readFormat(c *cursor) (f Format, err error) {
	f.Options = map[string]string{}
	_, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "provider":
			f.Provider, err = c.str()
		case "options":
			f.Options, err = strMap(c)
		default:
			ok = false
		}
		return ok, err
	})
	return f, err
}

func (d *decoder) protocol(c *cursor) (*Protocol, error) {
	p := &Protocol{}
	reader, writer := false, false
	var err error
	p.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "minReaderVersion":
			p.MinReaderVersion, err = c.int32()
			reader = true
		case "minWriterVersion":
			p.MinWriterVersion, err = c.int32()
			writer = true
		case "readerFeatures":
			p.ReaderFeatures, err = strList(c)
		case "writerFeatures":
			p.WriterFeatures, err = strList(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && (!reader || !writer) {
		err = errors.New("want minReaderVersion and minWriterVersion")
	}
	return p, err
}

func (d *decoder) txn(c *cursor) (*Txn, error) {
	t := &Txn{}
	appID, version := false, false
	var err error
	t.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "appId":
			t.AppID, err = c.str()
			appID = true
		case "version":
			t.Version, err = c.int64()
			version = true
		case "lastUpdated":
			t.LastUpdated, err = optInt(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && (!appID || !version) {
		err = errors.New("want appId and version")
	}
	return t, err
}

func (d *decoder) domain(c *cursor) (*DomainMetadata, error) {
	m := &DomainMetadata{}
	domain := false
	var err error
	m.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "domain":
			m.Domain, err = c.str()
			domain = true
		case "configuration":
			m.Configuration, err = c.str()
		case "removed":
			m.Removed, err = c.bool()
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && !domain {
		err = errors.New("no domain")
	}
	return m, err
}

func (d *decoder) sidecar(c *cursor) (*Sidecar, error) {
	s := &Sidecar{}
	var err error
	s.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "path":
			s.Path, err = c.str()
		case "sizeInBytes":
			s.SizeInBytes, err = c.int64()
		case "modificationTime":
			s.ModificationTime, err = c.int64()
		case "tags":
			s.Tags, err = strMap(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && s.Path == "" {
		err = errors.New("no path")
	}
	return s, err
}

func (d *decoder) checkpointMetadata(c *cursor) (*CheckpointMetadata, error) {
	m := &CheckpointMetadata{Version: -1}
	var err error
	m.Extra, err = fields(c, func(key string) (ok bool, err error) {
		ok = true
		switch key {
		case "version":
			m.Version, err = c.int64()
		case "tags":
			m.Tags, err = strMap(c)
		default:
			ok = false
		}
		return ok, err
	})
	if err == nil && m.Version < 0 {
		err = errors.New("no version")
	}
	return m, err
}

func (d *decoder) commitInfo(c *cursor) (*CommitInfo, error) {
	info := &CommitInfo{Fields: map[string]json.RawMessage{}}
	return info, c.object(func(key string) error {
		raw, err := c.raw()
		info.Fields[key] = bytes.Clone(raw)
		return err
	})
}
