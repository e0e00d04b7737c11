package deltaio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// CreateOptions describe a new table.
type CreateOptions struct {
	Schema      *schema.Struct
	PartitionBy []string // logical names, in order
	// Properties are delta.* and other properties. Those that need a feature add
	// it to the protocol; delta.feature.NAME = supported adds one by name.
	Properties  map[string]string
	Name        string
	Description string
	Step        *Step          // optional: the txn entry of the creating step
	Info        map[string]any // further members of commitInfo
}

// Create makes a table of version 0: ErrExists when there is one already. With a
// Step that an existing table carries, it opens that table: the step is done.
func Create(ctx context.Context, s storage.Store, env Env, opt CreateOptions) (*Table, error) {
	env, err := env.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Table{store: s, env: env}
	if _, err := log.Latest(ctx, s); err == nil {
		return t.createdBefore(ctx, opt.Step)
	} else if !errors.Is(err, log.ErrNoTable) {
		return nil, t.wrap(err)
	}
	protocol, metadata, err := t.design(opt)
	if err != nil {
		return nil, fmt.Errorf("%s: create: %w", t.URL(), err)
	}
	c := &committer{t: t, txnID: env.NewID()}
	actions, err := c.creation(protocol, metadata, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: create: %w", t.URL(), err)
	}
	won, _, err := c.put(ctx, 0, actions)
	switch {
	case err != nil:
		return nil, err
	case !won:
		return t.createdBefore(ctx, opt.Step)
	}
	_ = c.conclude(ctx, 0) // version 0 is due no checkpoint: nothing that matters can fail
	return t, nil
}

// OpenOrCreate opens the table, and makes it where there is none: for tables that
// several writers share and whoever comes first makes. Options count for a new
// table only; columns that an older one lacks are the caller's to add.
func OpenOrCreate(ctx context.Context, s storage.Store, env Env, opt CreateOptions) (*Table, error) {
	t, err := Open(ctx, s, env)
	if !errors.Is(err, ErrNotATable) {
		return t, err
	}
	t, err = Create(ctx, s, env, opt)
	if errors.Is(err, ErrExists) { // somebody else was faster
		return Open(ctx, s, env)
	}
	return t, err
}

func (t *Table) createdBefore(ctx context.Context, step *Step) (*Table, error) {
	if step != nil {
		st, err := t.newest(ctx)
		if err != nil {
			return nil, err
		}
		if cur, ok := st.Txns[step.AppID]; ok && cur.Version >= step.Version {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", t.URL(), ErrExists)
}

// design makes protocol and metadata, and refuses what this program could not
// write afterwards.
func (t *Table) design(opt CreateOptions) (*log.Protocol, *log.Metadata, error) {
	if opt.Schema == nil || len(opt.Schema.Fields) == 0 {
		return nil, nil, errors.New("a table needs at least one column")
	}
	conf := maps.Clone(opt.Properties)
	if conf == nil {
		conf = map[string]string{}
	}
	sc := opt.Schema
	if mode := conf[propMappingMode]; mode == mappingName || mode == mappingID {
		var maxID int64
		sc, maxID = assignMapping(sc, 0, t.env.NewID)
		conf[propMaxColumnID] = fmt.Sprint(maxID)
	}
	if err := checkColumns(sc, opt.PartitionBy, conf); err != nil {
		return nil, nil, err
	}
	protocol, err := protocolFor(sc, conf)
	if err != nil {
		return nil, nil, err
	}
	if strings.EqualFold(conf[propRowTracking], "true") {
		conf[propRowIDColumn] = "_row-id-col-" + t.env.NewID()
		conf[propRowVersionColumn] = "_row-commit-version-col-" + t.env.NewID()
	}
	now := t.env.nowMillis()
	m := &log.Metadata{
		ID: t.env.NewID(), Format: log.Format{Provider: "parquet", Options: map[string]string{}},
		SchemaString: sc.JSON(), PartitionColumns: append([]string{}, opt.PartitionBy...), CreatedTime: &now, Configuration: conf,
	}
	if opt.Name != "" {
		m.Name = &opt.Name
	}
	if opt.Description != "" {
		m.Description = &opt.Description
	}
	snap, err := t.snapshot(&log.State{Protocol: protocol, Metadata: m})
	if err != nil {
		return nil, nil, err
	}
	return protocol, m, snap.Check(WantAppend)
}

// creation is the first commit.
func (c *committer) creation(p *log.Protocol, m *log.Metadata, opt CreateOptions) ([]log.Action, error) {
	snap, err := c.t.snapshot(&log.State{Version: -1, Protocol: p, Metadata: m})
	if err != nil {
		return nil, err
	}
	c.base = snap
	c.opt = CommitOptions{
		Operation: "CREATE TABLE", Step: opt.Step, Info: opt.Info, BlindAppend: true,
		Parameters: map[string]any{
			"isManaged": "false", "description": opt.Description,
			"partitionBy": snap.partitionBy(), "properties": m.Configuration,
		},
	}
	c.actions = []log.Action{{Protocol: p}, {Metadata: m}}
	c.seen = progressOfLog{version: -1, watermark: -1}
	actions, err := c.finish(0)
	if err != nil {
		return nil, err
	}
	delete(actions[0].CommitInfo.Fields, "readVersion") // there was none
	return actions, nil
}

// forbiddenInNames are the characters that Parquet schemas of engines without
// column mapping cannot carry.
const forbiddenInNames = " ,;{}()\n\t="

func checkColumns(sc *schema.Struct, partitionBy []string, conf map[string]string) error {
	mode := conf[propMappingMode]
	mapped := mode == mappingName || mode == mappingID
	if err := checkNames(sc, mapped); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range partitionBy {
		f, ok := sc.Field(name)
		if !ok || f.Name != name {
			return fmt.Errorf("partition column: %w", unknownColumn(sc, name))
		}
		if seen[name] {
			return fmt.Errorf("partition column %q is named twice", name)
		}
		seen[name] = true
		switch f.Type.(type) {
		case *schema.Array, *schema.Map, *schema.Struct:
			return fmt.Errorf("partition column %q has type %s: only plain types partition a table", name, f.Type)
		}
		if f.Type == schema.Variant || f.Type == schema.Void {
			return fmt.Errorf("partition column %q has type %s: only plain types partition a table", name, f.Type)
		}
	}
	if len(partitionBy) == len(sc.Fields) {
		return errors.New("every column partitions the table: one at least must not")
	}
	return nil
}

// checkNames wants names that are unique whatever their case, and that files can
// carry.
func checkNames(sc *schema.Struct, mapped bool) error {
	var bad error
	walkType(sc, func(t schema.Type) {
		st, ok := t.(*schema.Struct)
		if !ok || bad != nil {
			return
		}
		seen := map[string]bool{}
		for _, f := range st.Fields {
			switch low := strings.ToLower(f.Name); {
			case f.Name == "":
				bad = errors.New("a column has no name")
			case seen[low]:
				bad = fmt.Errorf("column %q appears twice (case does not count)", f.Name)
			case !mapped && strings.ContainsAny(f.Name, forbiddenInNames):
				bad = fmt.Errorf("column %q holds one of %q: such names need column mapping (%s = name)", f.Name, forbiddenInNames, propMappingMode)
			default:
				seen[low] = true
			}
		}
	})
	return bad
}

// protocolFor gives the lowest protocol that covers schema and properties, and
// takes delta.feature.* out of the properties.
func protocolFor(sc *schema.Struct, conf map[string]string) (*log.Protocol, error) {
	need := map[string]bool{}
	on := func(property, feature string) {
		if strings.EqualFold(conf[property], "true") {
			need[feature] = true
		}
	}
	on(propAppendOnly, "appendOnly")
	on(propCDF, "changeDataFeed")
	on(propDVs, "deletionVectors")
	on(propRowTracking, "rowTracking")
	on(propICT, "inCommitTimestamp")
	on(propTypeWidening, "typeWidening")
	for _, v := range []string{"V1", "V2", "V3"} {
		on("delta.enableIcebergCompat"+v, "icebergCompat"+v)
	}
	if conf[propCheckpointPolicy] == "v2" {
		need["v2Checkpoint"] = true
	}
	if mode := conf[propMappingMode]; mode != "" && mode != mappingNone {
		need["columnMapping"] = true
	}
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		if strings.HasPrefix(key, propConstraintPrefix) {
			need["checkConstraints"] = true
		}
		if name, ok := strings.CutPrefix(key, propFeaturePrefix); ok {
			if featureNamed(name) == nil {
				return nil, fmt.Errorf("property %s: feature %s is not known", key, name)
			}
			need[name] = true
			delete(conf, key)
		}
	}
	featuresOfSchema(sc, need)
	if need["rowTracking"] || need["clustering"] {
		need["domainMetadata"] = true
	}
	return lowestProtocol(need), nil
}

func featuresOfSchema(sc *schema.Struct, need map[string]bool) {
	for t, feature := range map[schema.Primitive]string{schema.TimestampNTZ: "timestampNtz", schema.Variant: "variantType"} {
		if containsType(sc, t) {
			need[feature] = true
		}
	}
	walkFields(sc, func(f *schema.Field) {
		for key, feature := range map[string]string{
			schema.KeyInvariants: "invariants", schema.KeyGeneration: "generatedColumns",
			schema.KeyDefault: "allowColumnDefaults", schema.KeyIdentityStart: "identityColumns",
		} {
			if _, ok := f.Metadata[key]; ok {
				need[feature] = true
			}
		}
	})
}

// lowestProtocol uses a legacy version where it implies no more than what is
// needed and harmless company, else lists features.
func lowestProtocol(need map[string]bool) *log.Protocol {
	p := &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	legacy, readers := true, []string{}
	for name := range need {
		f := featureNamed(name)
		if f.legacyWriter == 0 {
			legacy = false
		}
		p.MinWriterVersion = max(p.MinWriterVersion, f.legacyWriter)
		p.MinReaderVersion = max(p.MinReaderVersion, f.legacyReader)
		if f.reader {
			readers = append(readers, name)
		}
	}
	if legacy {
		return p
	}
	need["appendOnly"], need["invariants"] = true, true // as every table of version 2 has them
	p.MinReaderVersion, p.MinWriterVersion = 1, 7
	p.WriterFeatures = slices.Sorted(maps.Keys(need))
	if len(readers) > 0 {
		slices.Sort(readers)
		p.MinReaderVersion, p.ReaderFeatures = 3, readers
	}
	return p
}
