"""One piece of work by one peer, measured in a process of its own.

usage: peers.py WORK DIR   (DIR/table is the table; a copy, since it is changed)

Prints one line of JSON with the figures that lakewarden's side (ours) reports:
wall seconds, CPU seconds, peak MiB. Starting Spark's session is not counted.
"""

import json
import os
import resource
import sys
import time

CUTOFF = "2024-09-01"
THREADS = os.cpu_count() or 1


def delta_rs_purge(root: str):
    """Filter into an archive, then DELETE: nothing is verified, nothing audited."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from deltalake import DeltaTable, write_deltalake

    table = DeltaTable(f"{root}/table")
    rows = table.to_pyarrow_dataset().scanner(filter=pc.field("event_date") < pa.scalar(CUTOFF).cast(pa.date32())).to_reader()
    write_deltalake(f"{root}/archive", rows)
    return table.delete(f"event_date < '{CUTOFF}'")


def duckdb_split(root: str, codec: str = "snappy"):
    """One pass over the files into due and kept files: what a mark does."""
    import duckdb

    db = duckdb.connect()
    db.execute(f"SET threads={THREADS}")
    db.execute("SET preserve_insertion_order=false")
    db.execute(
        f"COPY (SELECT *, event_date < DATE '{CUTOFF}' AS due FROM read_parquet('{root}/table/*.parquet')) "
        f"TO '{root}/split' (FORMAT parquet, PARTITION_BY (due), COMPRESSION {codec}, ROW_GROUP_SIZE 1000000)"
    )


def duckdb_scan(root: str):
    """Every column of every row as Arrow batches."""
    import duckdb

    db = duckdb.connect()
    db.execute(f"SET threads={THREADS}")
    reader = db.sql(f"SELECT * FROM read_parquet('{root}/table/*.parquet')").to_arrow_reader(65536)
    return sum(batch.num_rows for batch in reader)


def copy_due(root: str):
    """A plain copy of the files that hold due rows, by the bounds of their dates."""
    import shutil

    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    os.makedirs(f"{root}/copied")
    copied = 0
    for uri in DeltaTable(f"{root}/table").file_uris():
        path = uri.removeprefix("file://")
        footer = pq.read_metadata(path)
        column = footer.schema.names.index("event_date")
        if min(str(footer.row_group(g).column(column).statistics.min) for g in range(footer.num_row_groups)) < CUTOFF:
            shutil.copyfile(path, f"{root}/copied/{os.path.basename(path)}")
            copied += 1
    return copied


def spark_session():
    import glob

    from pyspark.sql import SparkSession

    jars = ",".join(glob.glob(f"{os.environ['DELTA_JARS']}/*.jar"))
    return (
        SparkSession.builder.master(f"local[{THREADS}]")
        .config("spark.jars", jars)
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", str(2 * THREADS))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .getOrCreate()
    )


def spark_purge(root: str):
    """The notebook: flag, copy to an archive, MERGE the flagged rows away, audit."""
    from pyspark.sql import functions as f

    spark, table, archive, audit = spark_session(), f"delta.`{root}/table`", f"{root}/archive", f"{root}/audit"
    steps = {}

    def timed(name, do):
        begin = time.monotonic()
        result = do()
        steps[name] = round(time.monotonic() - begin, 3)
        return result

    begin, cpu = time.monotonic(), total_cpu()
    timed("add column", lambda: spark.sql(f"ALTER TABLE {table} ADD COLUMNS (_expurgo_flag BOOLEAN)"))
    timed("mark", lambda: spark.sql(f"UPDATE {table} SET _expurgo_flag = true WHERE event_date < DATE '{CUTOFF}'"))
    due = spark.read.format("delta").load(f"{root}/table").where("_expurgo_flag = true")
    timed(
        "archive",
        lambda: due.drop("_expurgo_flag")
        .withColumn("run_id", f.lit("bench"))
        .withColumn("archived_at", f.current_timestamp())
        .write.format("delta")
        .mode("append")
        .save(archive),
    )
    timed(
        "merge delete",
        lambda: spark.sql(
            f"MERGE INTO {table} t USING (SELECT id FROM delta.`{archive}` WHERE run_id = 'bench') a "
            f"ON t.id = a.id WHEN MATCHED AND t._expurgo_flag = true THEN DELETE"
        ),
    )
    row = [("bench", "bench.sales", f"event_date < {CUTOFF}", "completed")]
    timed("audit", lambda: spark.createDataFrame(row, "run_id string, target_table string, criteria string, status string")
          .withColumn("exec_time", f.current_timestamp()).write.format("delta").mode("append").save(audit))
    return {"wall": time.monotonic() - begin, "cpu": total_cpu() - cpu, "steps": steps, "peak": java_peak_mib()}


def total_cpu() -> float:
    """CPU seconds of this process and of the Java process it drives."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    ticks = 0
    for pid in children():
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return own.ru_utime + own.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def children():
    """Processes that descend from this one."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                parents[int(pid)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue  # it ended meanwhile
    found, todo = [], [os.getpid()]
    while todo:
        parent = todo.pop()
        below = [pid for pid, of in parents.items() if of == parent]
        found += below
        todo += below
    return found


def java_peak_mib() -> float:
    peak = 0.0
    for pid in children():
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    peak = max(peak, int(line.split()[1]) / 1024)
    return peak


WORKS = {
    "delta-rs-purge": delta_rs_purge,
    "duckdb-split": duckdb_split,
    "duckdb-split-zstd": lambda root: duckdb_split(root, "zstd"),
    "duckdb-scan": duckdb_scan,
    "copy-due": copy_due,
    "spark-purge": spark_purge,
}


def main():
    work, root = sys.argv[1], os.path.abspath(sys.argv[2])
    cpu, begin = total_cpu(), time.monotonic()
    detail = WORKS[work](root)
    out = {
        "work": work,
        "wall_s": time.monotonic() - begin,
        "cpu_s": total_cpu() - cpu,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "detail": detail,
    }
    if work == "spark-purge":
        out.update(wall_s=detail["wall"], cpu_s=detail["cpu"], peak_mib=detail["peak"], detail=detail["steps"])
    print(json.dumps(out, default=str))


if __name__ == "__main__":
    main()
