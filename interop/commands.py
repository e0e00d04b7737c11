"""Spark's own commands on tables that lakewarden made and purged: history, time
travel, change data, RESTORE, VACUUM, and its writes after them."""

from collections import Counter
from typing import Any

import pyarrow as pa

import kinds
from engines import Spark
from judge import World, agree, due, kept
from kinds import MARKER
from rowtext import row_texts

NAMES = ["change-feed", "deletion-vectors", "mapped-by-name", "v2-checkpoints", "everything"]


def run(w: World) -> None:
    if w.spark is None:
        w.report.skip("commands: Spark is not there")
        return
    names = NAMES if w.full else ["change-feed", "everything"]
    for kind in kinds.KINDS:
        if kind.name in names:
            try:
                _Commands(w, w.spark, kind).all()
            except Exception as err:
                w.report.broken(kind.name, err)


class _Commands:
    def __init__(self, w: World, spark: Spark, kind: kinds.Kind) -> None:
        self.w, self.spark, self.kind = w, spark, kind
        self.table = w.folder(f"commands/{kind.name}")
        self.t = f"delta.`{self.table}`"

    def all(self) -> None:
        k = self.kind
        self.w.ours.create(self.table, k.schema(), k.partition_by, k.properties)
        self.w.ours.append(self.table, k.written(0, 30))
        self.w.ours.append(self.table, k.written(30, 50))
        self.w.ours.call("purge", self.table, archive=self.table + ".archive", folder=self.table + ".runs", run="purge", column=MARKER, where=kinds.DUE)
        left = kept(k.rows(0, 50))
        self.history()
        self.time_travel()
        if "delta.enableChangeDataFeed" in k.properties:
            self.changes(due(k.rows(0, 50)).num_rows)
        self.writes(left)
        self.restore(left)
        self.vacuum(left)

    def say(self, ok: bool, engine: str, what: str, why: Any) -> None:
        if ok:
            self.w.report.ok(engine)
        else:
            self.w.report.fail(engine, f"{self.kind.name}: {what}", str(why)[:600])

    def history(self) -> None:
        entries = self.spark.sql(f"DESCRIBE HISTORY {self.t}").collect()
        theirs = [(r["version"], r["operation"]) for r in entries]
        ours = [(c["version"], c["operation"]) for c in self.w.ours.call("history", self.table)]
        self.say(theirs == ours, "Spark", "DESCRIBE HISTORY", f"{theirs}, lakewarden {ours}")
        metrics = {r["operation"]: r["operationMetrics"] for r in entries}
        self.say(metrics["DELETE"].get("numDeletedRows") == str(due(self.kind.rows(0, 50)).num_rows), "Spark", "metrics of the delete", metrics["DELETE"])

    def time_travel(self) -> None:
        stamps = {r["version"]: r["timestamp"] for r in self.spark.sql(f"DESCRIBE HISTORY {self.t}").collect()}
        for version, stamp in sorted(stamps.items()):
            agree(self.w, self.table, f"{self.kind.name} VERSION AS OF {version}", version=version)
            if version % 3 and not self.w.full:
                continue
            at = self.spark.sql(f"SELECT count(*) AS n FROM {self.t} TIMESTAMP AS OF '{stamp}'").collect()[0]["n"]
            rows = self.w.ours.read(self.table, version).num_rows
            self.say(at == rows, "Spark", f"TIMESTAMP AS OF version {version}", f"{at} rows, lakewarden {rows}")

    def changes(self, gone: int) -> None:
        """Change data, replayed from the first version, must give the newest."""
        reader = self.spark.session.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0)
        self.replay("Spark", self.spark.arrow(reader.load(self.table)), gone)
        if self.w.engine("delta-rs"):
            from deltalake import DeltaTable

            try:
                rows = pa.table(DeltaTable(self.table).load_cdf(starting_version=0))
            except Exception as err:
                self.w.report.error("delta-rs", f"{self.kind.name}: change data", err)
                return
            self.replay("delta-rs", rows, gone)

    def replay(self, engine: str, changes: pa.Table, gone: int) -> None:
        schema = self.kind.schema()
        state: Counter[bytes] = Counter()
        texts, kinds_of = row_texts(changes, schema), changes.column("_change_type").to_pylist()
        for text, kind in zip(texts, kinds_of):
            state[text] += 1 if kind in ("insert", "update_postimage") else -1
        now = Counter(row_texts(self.w.ours.read(self.table), schema))
        self.say(+state == now and not -state, engine, "change data replayed", f"{len(+state)} rows, table {len(now)}")
        deleted = sum(kind == "delete" for kind in kinds_of)
        self.say(deleted == gone, engine, "change data of the delete", f"{deleted} rows, purged {gone}")

    def writes(self, left: pa.Table) -> None:
        self.spark.sql(f"UPDATE {self.t} SET note = 'by Spark' WHERE id = {left.column('id')[0]}")
        self.spark.sql(f"DELETE FROM {self.t} WHERE id = {left.column('id')[1]}")
        self.spark.sql(f"OPTIMIZE {self.t}")
        rows = agree(self.w, self.table, f"{self.kind.name} after Spark wrote")
        if rows is not None:
            notes = dict(zip(rows.column("id").to_pylist(), rows.column("note").to_pylist()))
            ids = left.column("id").to_pylist()
            ok = notes.get(ids[0]) == "by Spark" and sorted(notes) == sorted(i for i in ids if i != ids[1])
            self.say(ok, "lakewarden", "Spark's update and delete", notes)

    def restore(self, left: pa.Table) -> None:
        self.spark.sql(f"RESTORE TABLE {self.t} TO VERSION AS OF 2")
        agree(self.w, self.table, f"{self.kind.name} after RESTORE to before the purge", self.kind.rows(0, 50))
        deleted = next(c["version"] for c in self.w.ours.call("history", self.table) if c["operation"] == "DELETE" and "lakewarden" in c["engine"])
        self.spark.sql(f"RESTORE TABLE {self.t} TO VERSION AS OF {deleted}")
        agree(self.w, self.table, f"{self.kind.name} after RESTORE to the delete", left)

    def vacuum(self, left: pa.Table) -> None:
        self.spark.sql(f"VACUUM {self.t} RETAIN 0 HOURS")
        agree(self.w, self.table, f"{self.kind.name} after VACUUM", left)
