"""Tables as other engines write them: one recipe for each thing that a reader or
a writer can get wrong. The checks make them anew in every run; fixtures.py keeps
small copies for the tests of deltaio.

{t} in a statement is the table by path. Spark has one task for each statement's
rows, so that the tables are small and nearly the same in every run.
"""

from dataclasses import dataclass
from typing import Any, Callable

import pyarrow as pa

from engines import Spark
from kinds import SPECIAL


@dataclass
class Recipe:
    name: str
    engine: str
    shows: str
    make: Callable[[Any, str], None]  # engine, path
    cdf: bool = False  # the table has a change data feed


def make(recipe: Recipe, engine: Any, path: str) -> None:
    recipe.make(engine, path)


def _sql(*statements: str) -> Callable[[Spark, str], None]:
    def make(spark: Spark, path: str) -> None:
        for statement in statements:
            spark.sql(statement.replace("{t}", f"delta.`{path}`").replace("{p}", path))

    return make


def _spark(name: str, shows: str, *statements: str, cdf: bool = False) -> Recipe:
    return Recipe("spark-" + name, "Spark", shows, _sql(*statements), cdf)


def _properties(**values: str) -> str:
    return "TBLPROPERTIES (" + ", ".join(f"'delta.{k.replace('__', '.')}' = '{v}'" for k, v in values.items()) + ")"


BASE = "id BIGINT, event_date DATE, note STRING"
# Rows first..last-1 of the base columns; half of them are due.
ROWS = (
    "SELECT /*+ COALESCE(1) */ id, CASE WHEN id % 7 = 6 THEN NULL ELSE date_add(DATE'2024-01-01', CAST(id * 36 % 365 AS INT)) END AS event_date,"
    " CASE WHEN id % 5 = 3 THEN NULL ELSE concat('note ', id) END AS note"
)


def _rows(first: int, last: int, more: str = "") -> str:
    return f"INSERT INTO {{t}} {ROWS}{more} FROM range({first}, {last}, 1, 1)"


DV = _properties(enableDeletionVectors="true")

PRIMITIVES = (
    "CREATE TABLE {t} (id INT, event_date DATE, b TINYINT, s SMALLINT, l BIGINT, f FLOAT, d DOUBLE, d5 DECIMAL(5,2), d18 DECIMAL(18,4),"
    " d38 DECIMAL(38,10), t STRING, y BINARY, o BOOLEAN, ts TIMESTAMP, n TIMESTAMP_NTZ) USING delta",
    "INSERT INTO {t} VALUES"
    " (1, DATE'2024-01-01', -128, -32768, -9223372036854775808, CAST('NaN' AS FLOAT), CAST('-Infinity' AS DOUBLE), -999.99, 0.0001,"
    " 9999999999999999999999999999.9999999999, 'é', X'00FF', true, TIMESTAMP'2024-03-31 01:59:59.999999', TIMESTAMP_NTZ'1582-10-04 00:00:00.000001'),"
    " (2, DATE'0001-01-01', 127, 32767, 9223372036854775807, -0.0f, 4.9E-324D, 999.99, -99999999999999.9999, -1, '', X'', false,"
    " TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'),"
    " (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "INSERT INTO {t} SELECT id + 3, DATE'2024-12-31', b, s, l, f, d, d5, d18, d38, t, y, o, ts, n FROM {t} WHERE id < 3",
)

SPECIAL_SQL = ", ".join(f"({i}, DATE'2024-0{1 + i % 9}-15', {'NULL' if v is None else chr(39) + v.replace(chr(39), chr(92) + chr(39)) + chr(39)})" for i, v in enumerate(SPECIAL))

NESTED = (
    "(id BIGINT, event_date DATE, `a b` STRUCT<`x y`: INT, tags: ARRAY<STRUCT<k: STRING, `v;`: DOUBLE>>>, m MAP<STRING, STRUCT<n: INT, at: TIMESTAMP>>, part STRING)"
    " USING delta PARTITIONED BY (part)"
)
NESTED_ROWS = (
    "SELECT /*+ COALESCE(1) */ id, date_add(DATE'2024-01-01', CAST(id * 60 AS INT)),"
    " CASE WHEN id % 4 = 3 THEN NULL ELSE named_struct('x y', CAST(id AS INT), 'tags', array(named_struct('k', 'a', 'v;', id / 2D), NULL)) END,"
    " CASE WHEN id % 3 = 2 THEN NULL ELSE map('k', named_struct('n', CAST(id AS INT), 'at', TIMESTAMP'2024-01-01 00:00:00'), 'l', NULL) END,"
    " CASE WHEN id % 2 = 0 THEN 'a=b' ELSE 'c d' END FROM range({}, {}, 1, 1)"
)

SPARK = [
    _spark("primitives", "every primitive type with its extremes", *PRIMITIVES),
    _spark("special-partitions", "partition values that paths and URIs escape, the null one among them",
           "CREATE TABLE {t} (id BIGINT, event_date DATE, region STRING) USING delta PARTITIONED BY (region)",
           f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {SPECIAL_SQL} AS v(id, event_date, region)",
           "DELETE FROM {t} WHERE region = 'A/A'"),
    _spark("typed-partitions", "partitions by date, timestamp, decimal and boolean",
           "CREATE TABLE {t} (id BIGINT, event_date DATE, ts TIMESTAMP, d DECIMAL(6,3), o BOOLEAN) USING delta PARTITIONED BY (event_date, ts, d, o)",
           "INSERT INTO {t} VALUES (1, DATE'2024-01-01', TIMESTAMP'2024-01-01 12:34:56.789012', -0.125, true), (2, DATE'2024-12-01', TIMESTAMP'1969-12-31 23:59:59', 12.5, false), (3, NULL, NULL, NULL, NULL)"),
    _spark("deletion-vectors", "deletion vectors by DELETE, UPDATE and MERGE, then one whole file gone",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {DV}", _rows(0, 20), _rows(20, 40),
           "DELETE FROM {t} WHERE id % 3 = 0", "UPDATE {t} SET note = 'changed' WHERE id % 10 = 1",
           "MERGE INTO {t} USING (SELECT * FROM VALUES (2, 'merged'), (100, 'new') AS s(id, note)) s ON {t}.id = s.id"
           " WHEN MATCHED THEN UPDATE SET note = s.note WHEN NOT MATCHED THEN INSERT (id, event_date, note) VALUES (s.id, DATE'2024-02-02', s.note)",
           "DELETE FROM {t} WHERE id >= 20 AND id < 40"),
    _spark("deletion-vectors-purged", "deletion vectors taken into files by REORG PURGE, and a restore",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {DV}", _rows(0, 20), "DELETE FROM {t} WHERE id % 4 = 1",
           "REORG TABLE {t} APPLY (PURGE)", "RESTORE TABLE {t} TO VERSION AS OF 2"),
    _spark("change-feed", "change data of UPDATE, DELETE and MERGE",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {_properties(enableChangeDataFeed='true')}", _rows(0, 12),
           "UPDATE {t} SET note = 'changed' WHERE id < 3", "DELETE FROM {t} WHERE id = 5",
           "MERGE INTO {t} USING (SELECT 7L AS id) s ON {t}.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND {t}.id = 8 THEN UPDATE SET note = 'gone'",
           cdf=True),
    _spark("change-feed-deletion-vectors", "change data beside deletion vectors",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {_properties(enableChangeDataFeed='true', enableDeletionVectors='true')}",
           _rows(0, 12), "UPDATE {t} SET note = 'changed' WHERE id < 3", "DELETE FROM {t} WHERE id = 5", cdf=True),
    _spark("mapped-by-name", "column mapping by name: renamed, dropped and nested columns, partitioned",
           f"CREATE TABLE {{t}} {NESTED} {_properties(columnMapping__mode='name')}",
           "INSERT INTO {t} " + NESTED_ROWS.format(0, 4), "ALTER TABLE {t} RENAME COLUMN `a b`.`x y` TO `x=y`",
           "ALTER TABLE {t} RENAME COLUMN part TO `part of it`", "INSERT INTO {t} " + NESTED_ROWS.format(4, 8),
           "ALTER TABLE {t} ADD COLUMN (extra DOUBLE)", "ALTER TABLE {t} DROP COLUMN m", "DELETE FROM {t} WHERE id = 1"),
    _spark("mapped-by-id", "column mapping by id, nested",
           f"CREATE TABLE {{t}} {NESTED} {_properties(columnMapping__mode='id')}",
           "INSERT INTO {t} " + NESTED_ROWS.format(0, 4), "ALTER TABLE {t} RENAME COLUMN m TO `m 2`", "INSERT INTO {t} " + NESTED_ROWS.format(4, 8)),
    _spark("mapped-late", "column mapping turned on over files without it",
           f"CREATE TABLE {{t}} ({BASE}) USING delta", _rows(0, 6),
           "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')",
           "ALTER TABLE {t} RENAME COLUMN note TO `the note`", _rows(6, 12)),
    _spark("constraints", "CHECK constraints and NOT NULL",
           "CREATE TABLE {t} (id BIGINT NOT NULL, event_date DATE, note STRING) USING delta",
           "ALTER TABLE {t} ADD CONSTRAINT sane CHECK (id >= 0 AND (note IS NULL OR length(note) < 100))", _rows(0, 10)),
    Recipe("spark-generated", "Spark", "generated columns, one of them a partition", lambda spark, path: _generated(spark, path)),
    _spark("defaults", "column defaults",
           f"CREATE TABLE {{t}} (id BIGINT, event_date DATE, note STRING, country STRING DEFAULT 'PT') USING delta {_properties(feature__allowColumnDefaults='supported')}",
           f"INSERT INTO {{t}} (id, event_date, note) {ROWS} FROM range(0, 10, 1, 1)"),
    _spark("row-tracking", "row tracking, rows moved by UPDATE and OPTIMIZE",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {_properties(enableRowTracking='true')}", _rows(0, 10), _rows(10, 20),
           "UPDATE {t} SET note = 'moved' WHERE id = 3", "OPTIMIZE {t}"),
    _spark("in-commit-timestamps", "in-commit timestamps, turned on late",
           f"CREATE TABLE {{t}} ({BASE}) USING delta", _rows(0, 5),
           "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", _rows(5, 10)),
    _spark("type-widening", "types widened over old files, nested ones too",
           f"CREATE TABLE {{t}} (id BIGINT, event_date DATE, b TINYINT, s SMALLINT, l ARRAY<TINYINT>, n STRUCT<k: SMALLINT>, m MAP<TINYINT, SMALLINT>) USING delta {_properties(enableTypeWidening='true')}",
           "INSERT INTO {t} VALUES (1, DATE'2024-01-01', 1, 2, array(1Y, 2Y), named_struct('k', 3S), map(1Y, 2S)), (2, NULL, -128, -32768, array(NULL), NULL, NULL), (3, DATE'2024-12-01', 127, 32767, NULL, named_struct('k', NULL), map())",
           *(f"ALTER TABLE {{t}} ALTER COLUMN {c} TYPE {k}" for c, k in (("b", "SMALLINT"), ("b", "INT"), ("s", "INT"), ("l.element", "INT"), ("n.k", "INT"), ("m.key", "SMALLINT"), ("m.value", "INT"))),
           "INSERT INTO {t} VALUES (4, DATE'2024-06-01', 100000, 100000, array(100000), named_struct('k', 100000), map(300S, 100000)), (5, DATE'2024-11-01', NULL, NULL, NULL, NULL, NULL)"),
    _spark("clustering", "liquid clustering, optimized",
           f"CREATE TABLE {{t}} ({BASE}) USING delta CLUSTER BY (event_date)", _rows(0, 20), _rows(20, 40), "OPTIMIZE {t}", _rows(40, 50)),
    _spark("checkpoint", "a classic checkpoint, commits after it",
           f"CREATE TABLE {{t}} ({BASE}) USING delta PARTITIONED BY (event_date) {_properties(checkpointInterval='2', checkpoint__writeStatsAsStruct='true')}",
           *(_rows(2 * i, 2 * i + 2) for i in range(5))),
    _spark("checkpoint-multipart", "a checkpoint in several parts",
           f"CREATE TABLE {{t}} ({BASE}) USING delta PARTITIONED BY (event_date) {_properties(checkpointInterval='2')}",
           "SET spark.databricks.delta.checkpoint.partSize = 4", _rows(0, 10), _rows(10, 12), _rows(12, 14), "RESET spark.databricks.delta.checkpoint.partSize"),
    _spark("checkpoint-v2-parquet", "a V2 checkpoint in Parquet with sidecars",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {_properties(checkpointPolicy='v2', checkpointInterval='2')}",
           "SET spark.databricks.delta.checkpointV2.topLevelFileFormat = parquet", *(_rows(2 * i, 2 * i + 2) for i in range(4)),
           "RESET spark.databricks.delta.checkpointV2.topLevelFileFormat"),
    _spark("checkpoint-v2-json", "a V2 checkpoint in JSON with sidecars, deletion vectors in it",
           f"CREATE TABLE {{t}} ({BASE}) USING delta {_properties(checkpointPolicy='v2', checkpointInterval='2', enableDeletionVectors='true')}",
           "SET spark.databricks.delta.checkpointV2.topLevelFileFormat = json", _rows(0, 10), "DELETE FROM {t} WHERE id % 3 = 1", _rows(10, 12), _rows(12, 14),
           "RESET spark.databricks.delta.checkpointV2.topLevelFileFormat"),
    _spark("optimized", "small files compacted, z-ordered, and time travel behind them",
           f"CREATE TABLE {{t}} ({BASE}) USING delta", _rows(0, 4), _rows(4, 8), "OPTIMIZE {t} ZORDER BY (event_date)", _rows(8, 10)),
    _spark("nested", "arrays, maps and structs in each other",
           "CREATE TABLE {t} (id BIGINT, event_date DATE, a ARRAY<ARRAY<INT>>, m MAP<INT, ARRAY<STRUCT<k: STRING, d: DECIMAL(20,3)>>>, s STRUCT<s: STRUCT<m: MAP<STRING, DATE>>>) USING delta",
           "INSERT INTO {t} VALUES (1, DATE'2024-01-01', array(array(1, NULL), NULL, array()), map(1, array(named_struct('k', 'v', 'd', 1.5), NULL)), named_struct('s', named_struct('m', map('a', DATE'2024-01-01')))),"
           " (2, DATE'2024-12-01', NULL, map(), named_struct('s', NULL)), (3, NULL, array(), NULL, NULL)"),
    _spark("overwritten", "partitions overwritten where a predicate holds, then all of it",
           f"CREATE TABLE {{t}} ({BASE}) USING delta", _rows(0, 10), f"INSERT INTO {{t}} REPLACE WHERE id < 4 {ROWS} FROM range(1, 3, 1, 1)",
           f"INSERT OVERWRITE {{t}} {ROWS} FROM range(0, 8, 1, 1)"),
    _spark("everything", "mapping, deletion vectors, change data, row tracking, in-commit timestamps and V2 checkpoints in one",
           "CREATE TABLE {t} (id BIGINT, event_date DATE, `a note` STRING, region STRING) USING delta PARTITIONED BY (region) "
           + _properties(columnMapping__mode="name", enableDeletionVectors="true", enableChangeDataFeed="true", enableRowTracking="true", enableInCommitTimestamps="true", checkpointPolicy="v2", checkpointInterval="3"),
           *(_rows(10 * i, 10 * i + 10, ", CASE WHEN id % 2 = 0 THEN 'a/b' END AS region") for i in range(2)),
           "DELETE FROM {t} WHERE id = 3", "UPDATE {t} SET `a note` = 'changed' WHERE id = 4", cdf=True),
]


def _generated(spark: Spark, path: str) -> None:
    """Only the table builder makes them."""
    from delta.tables import DeltaTable

    t = DeltaTable.create(spark.session).location(path).addColumn("id", "BIGINT").addColumn("event_date", "DATE").addColumn("note", "STRING")
    t = t.addColumn("y", "INT", generatedAlwaysAs="YEAR(event_date)").addColumn("twice", "BIGINT", generatedAlwaysAs="id * 2")
    t.partitionedBy("y").execute()
    _sql(f"INSERT INTO {{t}} (id, event_date, note) {ROWS} FROM range(0, 10, 1, 1)")(spark, path)


def _batch(first: int, last: int, **more: Any) -> pa.Table:
    import kinds

    rows = kinds.Kind("x").rows(first, last)
    for name, values in more.items():
        rows = rows.append_column(name, values)
    return rows


def _rs_plain(_: Any, path: str) -> None:
    from deltalake import DeltaTable, write_deltalake

    write_deltalake(path, _batch(0, 10))
    write_deltalake(path, _batch(10, 20), mode="append")
    t = DeltaTable(path)
    t.delete("id % 5 = 1")
    t.update({"note": "'changed'"}, predicate="id = 3")
    t.merge(_batch(18, 24), "t.id = s.id", source_alias="s", target_alias="t").when_matched_update({"note": "'merged'"}).when_not_matched_insert_all().execute()
    t.optimize.compact()
    t.create_checkpoint()
    write_deltalake(path, _batch(24, 26), mode="append")


def _rs_partitions(_: Any, path: str) -> None:
    from deltalake import DeltaTable, write_deltalake

    regions = pa.array([SPECIAL[i % len(SPECIAL)] for i in range(34)])
    write_deltalake(path, _batch(0, 34, region=regions), partition_by=["region"])
    DeltaTable(path).delete("region = 'R&D'")


def _rs_cdf(_: Any, path: str) -> None:
    from deltalake import DeltaTable, write_deltalake

    write_deltalake(path, _batch(0, 10), configuration={"delta.enableChangeDataFeed": "true"})
    t = DeltaTable(path)
    t.update({"note": "'changed'"}, predicate="id < 3")
    t.delete("id = 5")


def _rs_constraint(_: Any, path: str) -> None:
    from deltalake import DeltaTable, write_deltalake

    write_deltalake(path, _batch(0, 5))
    DeltaTable(path).alter.add_constraint({"sane": "id >= 0"})
    write_deltalake(path, _batch(5, 10), mode="append")


def _rs_types(_: Any, path: str) -> None:
    import kinds
    from deltalake import write_deltalake

    kind = kinds.Kind("types", [*kinds.PRIMITIVES, *kinds.NESTED, kinds.NTZ])
    write_deltalake(path, kind.rows(0, 12))


DELTA_RS = [
    Recipe("delta-rs-plain", "delta-rs", "delete, update, merge, compaction and a checkpoint", _rs_plain),
    Recipe("delta-rs-special-partitions", "delta-rs", "partition values that delta-rs escapes twice in its paths", _rs_partitions),
    Recipe("delta-rs-change-feed", "delta-rs", "change data of update and delete", _rs_cdf, cdf=True),
    Recipe("delta-rs-constraints", "delta-rs", "a CHECK constraint", _rs_constraint),
    Recipe("delta-rs-types", "delta-rs", "all types, nested and without zone", _rs_types),
]

RECIPES = SPARK + DELTA_RS
