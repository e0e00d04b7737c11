package deltaio_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// foreign writes version 0 as any engine might.
func foreign(t *testing.T, p log.Protocol, sc *schema.Struct, conf map[string]string) *deltaio.Table {
	t.Helper()
	c := newClock()
	s := memStore(c)
	if conf == nil {
		conf = map[string]string{}
	}
	data, err := log.EncodeCommit([]log.Action{{Protocol: &p}, {Metadata: &log.Metadata{
		ID: "t", Format: log.Format{Provider: "parquet"}, SchemaString: sc.JSON(), PartitionColumns: []string{}, Configuration: conf,
	}}})
	require.NoError(t, err)
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(0), data))
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	return table
}

func features(reader, writer []string) log.Protocol {
	p := log.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: append(append([]string{}, reader...), writer...)}
	if reader != nil {
		p.MinReaderVersion, p.ReaderFeatures = 3, reader
	}
	return p
}

func withMeta(f schema.Field, key, value string) schema.Field {
	f.Metadata = map[string]json.RawMessage{key: json.RawMessage(value)}
	return f
}

func TestFeatures_every_access_gets_its_answer(t *testing.T) {
	t.Parallel()
	const (
		none = "----" // append rewrite vacuum checkpoint all fine
		all  = "ARVC" // all refused
	)
	invariant := withMeta(col("id", schema.Long), "delta.invariants", `"{\"expression\":{\"expression\":\"id > 0\"}}"`)
	subquery := withMeta(col("id", schema.Long), "delta.invariants", `"{\"expression\":{\"expression\":\"id IN (SELECT 1)\"}}"`)
	nested := col("s", fields(withMeta(col("x", schema.Long), "delta.invariants", `"{\"expression\":{\"expression\":\"x > 0\"}}"`)))
	identity := withMeta(col("id", schema.Long), "delta.identity.start", "1")
	explicit := withMeta(col("id", schema.Long), "delta.identity.start", "1")
	explicit.Metadata["delta.identity.allowExplicitInsert"] = json.RawMessage("true")
	generated := withMeta(col("d", schema.Date), "delta.generationExpression", `"cast(ts as date)"`)
	ts := col("ts", schema.Timestamp)
	for name, tc := range map[string]struct {
		p      log.Protocol
		sc     *schema.Struct
		conf   map[string]string
		writes string // those of ARVC that are refused; "READ": every access
		by     string // the feature named
	}{
		"plain table":                               {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, sales, nil, none, ""},
		"reader version beyond":                     {log.Protocol{MinReaderVersion: 4, MinWriterVersion: 7}, sales, nil, "READ", "protocol"},
		"writer version beyond":                     {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 8}, sales, nil, all, "protocol"},
		"unknown reader feature":                    {features([]string{"newReader"}, nil), sales, nil, "READ", "newReader"},
		"unknown writer feature":                    {features(nil, []string{"newWriter"}), sales, nil, all, "newWriter"},
		"catalog-managed":                           {features([]string{"catalogManaged"}, nil), sales, nil, "READ", "catalogManaged"},
		"append-only listed, not set":               {features(nil, []string{"appendOnly"}), sales, nil, none, ""},
		"append-only set":                           {features(nil, []string{"appendOnly"}), sales, map[string]string{"delta.appendOnly": "true"}, "-R--", "appendOnly"},
		"append-only by legacy version":             {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, sales, map[string]string{"delta.appendOnly": "TRUE"}, "-R--", "appendOnly"},
		"append-only set, feature not listed":       {features(nil, []string{"invariants"}), sales, map[string]string{"delta.appendOnly": "true"}, none, ""},
		"invariant understood":                      {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, fields(invariant), nil, none, ""},
		"invariant not understood":                  {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, fields(subquery), nil, "A---", "invariants"},
		"invariant of a nested field":               {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, fields(nested), nil, "A---", "invariants"},
		"check understood":                          {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}, sales, map[string]string{"delta.constraints.c": "id > 0"}, none, ""},
		"check not understood":                      {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}, sales, map[string]string{"delta.constraints.c": "my_udf(id)"}, "A---", "checkConstraints"},
		"check on an unknown column":                {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}, sales, map[string]string{"delta.constraints.c": "nope > 0"}, "A---", "checkConstraints"},
		"check that is no condition":                {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}, sales, map[string]string{"delta.constraints.c": "id"}, "A---", "checkConstraints"},
		"generated column understood":               {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 4}, fields(ts, generated), nil, none, ""},
		"change feed":                               {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 4}, sales, map[string]string{"delta.enableChangeDataFeed": "true"}, none, ""},
		"identity column":                           {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 6}, fields(identity), nil, "A---", "identityColumns"},
		"identity column with explicit values":      {log.Protocol{MinReaderVersion: 1, MinWriterVersion: 6}, fields(explicit), nil, none, ""},
		"mapping by legacy reader, writer 7":        {log.Protocol{MinReaderVersion: 2, MinWriterVersion: 7, WriterFeatures: []string{"columnMapping"}}, sales, map[string]string{"delta.columnMapping.mode": "none"}, none, ""},
		"mapping of an unknown mode":                {log.Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, sales, map[string]string{"delta.columnMapping.mode": "both"}, "READ", "columnMapping"},
		"features that ask for nothing":             {features([]string{"deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening"}, []string{"domainMetadata", "clustering", "rowTracking", "inCommitTimestamp", "allowColumnDefaults"}), sales, nil, none, ""},
		"type change known":                         {features([]string{"typeWidening"}, nil), fields(withMeta(col("n", schema.Long), "delta.typeChanges", `[{"fromType":"integer","toType":"long"}]`)), nil, none, ""},
		"type change unknown":                       {features([]string{"typeWidening"}, nil), fields(withMeta(col("n", schema.String), "delta.typeChanges", `[{"fromType":"integer","toType":"string"}]`)), nil, "READ", "typeWidening"},
		"iceberg compatibility listed":              {features(nil, []string{"icebergCompatV1"}), sales, nil, none, ""},
		"iceberg compatibility on":                  {features(nil, []string{"icebergCompatV2"}), sales, map[string]string{"delta.enableIcebergCompatV2": "true"}, "ARV-", "icebergCompatV2"},
		"variant":                                   {features([]string{"variantType"}, nil), fields(col("v", schema.Variant)), nil, "A---", "variantType"},
		"variant supported, no column":              {features([]string{"variantType"}, nil), sales, nil, none, ""},
		"shredded variants":                         {features([]string{"variantType", "variantShredding"}, nil), fields(col("v", schema.Variant)), nil, "AR--", ""},
		"checkpoint protection":                     {features(nil, []string{"checkpointProtection"}), sales, nil, all, "checkpointProtection"},
		"collations":                                {features(nil, []string{"collations"}), sales, nil, all, "collations"},
		"redirect for writers":                      {features(nil, []string{"redirectWriterOnly-preview"}), sales, nil, all, "redirectWriterOnly-preview"},
		"reader version 3 without writer version 7": {log.Protocol{MinReaderVersion: 3, MinWriterVersion: 5, ReaderFeatures: []string{}}, sales, nil, all, "protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := foreign(t, tc.p, tc.sc, tc.conf)
			snap, err := table.Snapshot(t.Context())
			var refused *deltaio.UnsupportedError
			if tc.writes == "READ" {
				require.ErrorAs(t, err, &refused)
				require.Equal(t, tc.by, refused.Feature)
				return
			}
			require.NoError(t, err)
			for i, w := range []deltaio.Want{deltaio.WantAppend, deltaio.WantRewrite, deltaio.WantVacuum, deltaio.WantCheckpoint} {
				err := snap.Check(w)
				if tc.writes[i] == '-' {
					require.NoError(t, err, w)
					continue
				}
				require.ErrorAs(t, err, &refused, w)
				if tc.by != "" {
					require.Equal(t, tc.by, refused.Feature)
				}
				require.Equal(t, w, refused.Want)
				require.NotEmpty(t, refused.Why)
				require.NotEmpty(t, refused.Do)
				require.ErrorContains(t, err, table.URL())
			}
		})
	}
}

func TestFeatures_a_refused_operation_writes_nothing(t *testing.T) {
	t.Parallel()
	table := foreign(t, features(nil, []string{"newWriter"}), sales, nil)
	_, err := deltaio.Vacuum(t.Context(), table, deltaio.VacuumOptions{})
	require.ErrorContains(t, err, "vacuum refused")
	_, err = deltaio.Checkpoint(t.Context(), table)
	require.ErrorContains(t, err, "checkpoint refused")
	_, err = deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
	require.ErrorContains(t, err, "append refused")
	_, err = deltaio.Fence(t.Context(), table, deltaio.Step{AppID: "a", Version: 2}, nil)
	require.ErrorContains(t, err, "append refused")
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(batch(t, row{1, nil, 1})))
	require.ErrorContains(t, err, "append refused")
	n := 0
	for _, err := range table.Store().List(t.Context(), "", "") {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 1, n)
}

func TestFeatures_files_of_another_format_are_refused(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	data, err := log.EncodeCommit([]log.Action{{Protocol: &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}}, {Metadata: &log.Metadata{
		ID: "t", Format: log.Format{Provider: "orc"}, SchemaString: sales.JSON(), PartitionColumns: []string{}, Configuration: map[string]string{},
	}}})
	require.NoError(t, err)
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(0), data))
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	_, err = table.Snapshot(t.Context())
	require.ErrorContains(t, err, "not parquet")
}

func TestFeatures_identity_values_are_brought_or_refused(t *testing.T) {
	t.Parallel()
	explicit := withMeta(col("id", schema.Long), "delta.identity.start", "1")
	explicit.Metadata["delta.identity.allowExplicitInsert"] = json.RawMessage("true")
	table := foreign(t, log.Protocol{MinReaderVersion: 1, MinWriterVersion: 6}, fields(explicit, sales.Fields[1], sales.Fields[2]), nil)
	appendRows(t, table, deltaio.AppendOptions{}, row{7, nil, 1})
	as, err := schema.ArrowSchema(fields(sales.Fields[2]))
	require.NoError(t, err)
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(recordJSON(t, as, `[{"amount":1}]`)))
	require.ErrorContains(t, err, "identity column")
}

func TestFeatures_every_row_says_what_it_asks_and_what_is_done(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range deltaio.Features() {
		require.NotEmpty(t, f.Asks, f.Name)
		require.NotEmpty(t, f.Does, f.Name)
		require.False(t, seen[f.Name], f.Name)
		seen[f.Name] = true
	}
	for _, name := range []string{ // the protocol's own list
		"appendOnly", "invariants", "checkConstraints", "generatedColumns", "allowColumnDefaults", "changeDataFeed",
		"columnMapping", "identityColumns", "deletionVectors", "rowTracking", "timestampNtz", "domainMetadata",
		"v2Checkpoint", "catalogManaged", "icebergCompatV1", "icebergCompatV2", "clustering", "vacuumProtocolCheck",
		"inCommitTimestamp", "typeWidening", "variantType", "variantShredding",
	} {
		require.True(t, seen[name], name)
	}
}
