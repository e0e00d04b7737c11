package deltaio

// featureTable has one row per feature name of the protocol, previews and
// vendors' names included. Order is the order of refusal.
var featureTable = []feature{
	{name: "catalogManaged", reader: true,
		asks: "every access goes through the catalog", does: "refused",
		read: never("the catalog owns the table's versions; files in storage may lag behind it", "reach the table through its catalog's engine")},
	{name: "catalogOwned-preview", reader: true,
		asks: "every access goes through the catalog", does: "refused",
		read: never("the catalog owns the table's versions; files in storage may lag behind it", "reach the table through its catalog's engine")},
	{name: "coordinatedCommits-preview", asks: "commits go to a coordinator", does: "reads as far as published; writes refused",
		append: coordinated, rewrite: coordinated, vacuum: coordinated, checkpoint: coordinated},
	{name: "managedCommits-preview", asks: "commits go to a coordinator", does: "writes refused",
		append: coordinated, rewrite: coordinated, vacuum: coordinated, checkpoint: coordinated},
	{name: "redirectReaderWriter-preview", reader: true, asks: "follow the redirect", does: "refused",
		read: never("the table redirects to another location", "open the location that the table names")},
	{name: "redirectWriterOnly-preview", asks: "writers follow the redirect", does: "writes refused",
		append: redirected, rewrite: redirected, vacuum: redirected, checkpoint: redirected},
	{name: "checkpointProtection", asks: "no log clean-up below a version; checkpoints as the feature says", does: "writes refused",
		append: protected, rewrite: protected, vacuum: protected, checkpoint: protected},
	{name: "collations", asks: "compare strings by collation", does: "writes refused",
		append: collated, rewrite: collated, vacuum: collated, checkpoint: collated},
	{name: "collations-preview", asks: "compare strings by collation", does: "writes refused",
		append: collated, rewrite: collated, vacuum: collated, checkpoint: collated},
	{name: "geospatial", reader: true, asks: "geometry and geography types", does: "refused",
		read: never("geometry and geography columns are not supported", "use an engine that reads them")},
	{name: "geospatial-preview", reader: true, asks: "geometry and geography types", does: "refused",
		read: never("geometry and geography columns are not supported", "use an engine that reads them")},

	{name: "appendOnly", legacyWriter: 2, asks: "no change or removal of rows while delta.appendOnly is true", does: "rewrites refused while it is true",
		rewrite: when(func(s *Snapshot) bool { return s.flag(propAppendOnly) },
			"delta.appendOnly is true: rows may only be added", "ask the table's owner to unset delta.appendOnly")},
	{name: "invariants", legacyWriter: 2, asks: "expressions in column metadata hold for every row written", does: "evaluated; refused when not understood",
		append: constraintsUnderstood(kindInvariant)},
	{name: "checkConstraints", legacyWriter: 3, asks: "CHECK expressions are true for every row written", does: "evaluated; refused when not understood",
		append: constraintsUnderstood(kindCheck)},
	{name: "generatedColumns", legacyWriter: 4, asks: "value <=> expression for every row written", does: "filled or checked; refused when not understood",
		append: constraintsUnderstood(kindGenerated)},
	{name: "changeDataFeed", legacyWriter: 4, asks: "change files for rows updated or deleted", does: "written"},
	{name: "columnMapping", reader: true, legacyReader: 2, legacyWriter: 5, asks: "physical names and field ids", does: "modes name and id",
		read: mappingUnderstood},
	{name: "identityColumns", legacyWriter: 6, asks: "generate values above the high-water mark", does: "rewrites keep values; appends need explicit ones",
		append: identityExplicit},
	{name: "allowColumnDefaults", asks: "absent values get the column's default", does: "evaluated when a column is absent"},
	{name: "deletionVectors", reader: true, asks: "drop the rows; exact numRecords", does: "honoured; none written"},
	{name: "timestampNtz", reader: true, asks: "the type", does: "supported"},
	{name: "v2Checkpoint", reader: true, asks: "UUID-named checkpoints and sidecars; no multi-part", does: "read; classic names written"},
	{name: "domainMetadata", asks: "keep domains", does: "kept"},
	{name: "clustering", asks: "statistics on clustering columns", does: "written; files are not clustered"},
	{name: "rowTracking", asks: "fresh row ids and commit versions, the watermark", does: "assigned in the commit; rewrites keep them in the materialized columns"},
	{name: "inCommitTimestamp", asks: "commitInfo first, rising timestamps", does: "written; used for time travel"},
	{name: "inCommitTimestamp-preview", asks: "commitInfo first, rising timestamps", does: "written; used for time travel"},
	{name: "typeWidening", reader: true, asks: "read old files in the wider type", does: "widened", read: wideningUnderstood},
	{name: "typeWidening-preview", reader: true, asks: "read old files in the wider type", does: "widened", read: wideningUnderstood},
	{name: "vacuumProtocolCheck", reader: true, asks: "writers check the protocol before VACUUM", does: "always done"},
	{name: "materializePartitionColumns", asks: "partition columns in data files", does: "written"},
	{name: "variantType", reader: true, asks: "struct of value and metadata", does: "read and copied as bytes; appends refused", append: hasVariant},
	{name: "variantType-preview", reader: true, asks: "struct of value and metadata", does: "read and copied as bytes; appends refused", append: hasVariant},
	{name: "variantShredding", reader: true, asks: "shredded variants", does: "files without shredding are read; rewrites refused", append: hasVariant, rewrite: hasVariant},
	{name: "variantShredding-preview", reader: true, asks: "shredded variants", does: "files without shredding are read; rewrites refused", append: hasVariant, rewrite: hasVariant},

	icebergRow("icebergCompatV1", "delta.enableIcebergCompatV1"),
	icebergRow("icebergCompatV2", "delta.enableIcebergCompatV2"),
	icebergRow("icebergCompatV3", "delta.enableIcebergCompatV3"),
	icebergRow("icebergWriterCompatV1", "delta.enableIcebergWriterCompatV1"),
	icebergRow("icebergWriterCompatV3", "delta.enableIcebergWriterCompatV3"),
}

var (
	coordinated = never("commits go through a coordinator, not through storage", "write with the engine that coordinates the table")
	redirected  = never("writers are redirected to another location", "write to the location that the table names")
	protected   = never("the log carries checkpoint protection, which is not supported", "write with the engine that protects the table, or drop the feature there")
	collated    = never("collations are not supported", "write with the engine that added them")
)

func icebergRow(name, property string) feature {
	active := when(func(s *Snapshot) bool { return s.flag(property) },
		"Iceberg clients read this table's files by rules that are not supported", "write with the engine that keeps the Iceberg metadata, or set "+property+" to false")
	return feature{name: name, asks: "Iceberg's demands on files and columns", does: "writes refused while it is on",
		append: active, rewrite: active, vacuum: active}
}
