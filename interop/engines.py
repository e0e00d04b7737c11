"""The other engines: how each is started, and how it reads a table into Arrow."""

import glob
import importlib.util
import os
import tempfile
from typing import Any, Protocol

import pyarrow as pa


class Engine(Protocol):
    """An engine that reads Delta tables."""

    name: str

    def read(self, table: str, version: int | None = None) -> pa.Table: ...


class DeltaRS:
    """delta-rs by its Python package; rows come through its DataFusion scan."""

    name = "delta-rs"

    def __init__(self) -> None:
        import deltalake

        self.version = deltalake.__version__

    def read(self, table: str, version: int | None = None) -> pa.Table:
        from deltalake import DeltaTable, QueryBuilder

        rows = QueryBuilder().register("t", DeltaTable(table, version=version)).execute("SELECT * FROM t")
        return pa.table(rows)


class DuckDB:
    """DuckDB with the delta extension of its Python package (delta-kernel-rs)."""

    name = "DuckDB"

    def __init__(self) -> None:
        import duckdb

        spec = importlib.util.find_spec("duckdb_extension_delta")
        if spec is None or not spec.origin:
            raise RuntimeError("the package with the delta extension is not installed")
        found = glob.glob(f"{os.path.dirname(spec.origin)}/extensions/v{duckdb.__version__}/delta.duckdb_extension")
        if not found:
            raise RuntimeError(f"the delta extension is not that of DuckDB {duckdb.__version__}")
        self.version = duckdb.__version__
        self._db = duckdb.connect(config={"autoinstall_known_extensions": "false", "threads": "2"})
        self._db.execute(f"LOAD '{found[0]}'")
        self._db.execute("SET TimeZone = 'UTC'")

    def read(self, table: str, version: int | None = None) -> pa.Table:
        at = "" if version is None else f", version => {version}"
        return self._db.execute(f"SELECT * FROM delta_scan({_quoted(table)}{at})").to_arrow_table()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Spark:
    """Apache Spark with Delta Lake: one local session, made on first use."""

    name = "Spark"

    def __init__(self, jars: str, scratch: str) -> None:
        from pyspark.sql import SparkSession

        os.makedirs(scratch, exist_ok=True)
        self._scratch = scratch
        found = glob.glob(f"{jars}/*.jar")
        if not found:
            raise RuntimeError("the jars of Delta Lake are missing")
        os.environ["TZ"] = "UTC"
        options = {
            "spark.jars": ",".join(found),
            "spark.driver.memory": "1500m",
            "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": scratch,
            "spark.sql.warehouse.dir": f"{scratch}/warehouse",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.codegen.wholeStage": "false",
            # Dates before 1582 in files of other writers are what they say.
            "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
            "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
            "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions": "2",
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
            "spark.databricks.delta.vacuum.parallelDelete.enabled": "false",
        }
        builder = SparkSession.builder.master("local[2]").appName("interop")
        for key, value in options.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.version = f"{self.session.version} Delta {_delta_version(found)}"

    def read(self, table: str, version: int | None = None) -> pa.Table:
        # By SQL: it makes the catalog in the driver, without which a task that fills
        # in a column's default finds no session.
        at = "" if version is None else f" VERSION AS OF {version}"
        return self.arrow(self.sql(f"SELECT * FROM delta.`{table}`{at}"))

    def sql(self, statement: str) -> Any:
        return self.session.sql(statement)

    def frame(self, rows: pa.Table) -> Any:
        """A data frame of the rows, by way of a Parquet file."""
        import pyarrow.parquet as pq

        handle, path = tempfile.mkstemp(suffix=".parquet", dir=self._scratch)
        os.close(handle)
        pq.write_table(rows, path, use_deprecated_int96_timestamps=False, coerce_timestamps="us")
        return self.session.read.parquet(path)

    def arrow(self, frame: Any) -> pa.Table:
        """The rows of a data frame as Arrow."""
        from pyspark.sql.pandas.types import to_arrow_schema

        batches = frame._collect_as_arrow()
        if batches:
            return pa.Table.from_batches(batches)
        return to_arrow_schema(frame.schema).empty_table()

    def close(self) -> None:
        self.session.stop()


def _delta_version(jars: list[str]) -> str:
    for jar in jars:
        name = os.path.basename(jar)
        if name.startswith("delta-spark_"):
            return name.removesuffix(".jar").split("-")[-1]
    return "of unknown version"
