// Package schema holds Delta table schemas: their types, the JSON form of
// metaData.schemaString (PROTOCOL.md, "Schema Serialization Format"), and their
// Arrow equivalents. It refuses type names it does not know instead of guessing.
//
// Invariants:
//  1. A parsed schema serialises to equivalent JSON: field order, nullability
//     and every metadata entry survive, known or not.
//  2. Logical names are Field.Name. The name inside Parquet files, statistics
//     and partitionValues is Field.PhysicalName (column mapping).
package schema
