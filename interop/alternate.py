"""Spark, delta-rs and lakewarden take turns as writers of one table, fifty times;
a model of the keys says what must be in it after each turn."""

import random
from typing import Any, Callable

import pyarrow as pa

import kinds
from judge import World, agree

TURNS = 50
# Plain values: delta-rs cannot compact partitions whose paths are escaped.
REGION = ("region", "string", pa.string(), lambda i: ("north", "south", None)[i % 3])
KIND = kinds.Kind("turns", [REGION], ["region"])


class _Turns:
    def __init__(self, w: World, name: str, properties: dict[str, str]) -> None:
        self.w, self.random, self.next = w, random.Random(7), 0
        self.table = w.folder(f"alternate/{name}")
        self.archive, self.folder = w.folder(f"alternate/{name}.archive"), w.folder(f"alternate/{name}.runs")
        self.rows: dict[int, str | None] = {}  # key to note
        w.ours.create(self.table, KIND.schema(), KIND.partition_by, {"delta.checkpointInterval": "7", **properties})

    def batch(self) -> pa.Table:
        first, self.next = self.next, self.next + 12
        rows = KIND.rows(first, self.next)
        for row in rows.to_pylist():
            self.rows[row["id"]] = row["note"]
        return rows

    def pick(self) -> int:
        return self.random.choice(sorted(self.rows)) if self.rows else -1

    def spark(self, turn: int) -> str:
        spark, t = self.w.spark, f"delta.`{self.table}`"
        assert spark
        key, kind = self.pick(), turn % 4
        if kind == 0:
            spark.frame(self.batch()).write.format("delta").mode("append").option("mergeSchema", "false").save(self.table)
            return "append"
        if kind == 1:
            spark.sql(f"UPDATE {t} SET note = 'by Spark {turn}' WHERE id >= {key} AND id < {key} + 3")
            self.rows.update({k: f"by Spark {turn}" for k in self.rows if key <= k < key + 3})
            return "update"
        if kind == 2:
            spark.sql(f"DELETE FROM {t} WHERE id = {key}")
            self.rows.pop(key, None)
            return "delete"
        spark.sql(f"OPTIMIZE {t}")
        return "optimize"

    def delta_rs(self, turn: int) -> str:
        from deltalake import DeltaTable, write_deltalake

        key, kind = self.pick(), turn % 4
        if kind == 0:
            write_deltalake(self.table, self.batch(), mode="append", schema_mode="merge")
            return "append"
        if kind == 1:
            DeltaTable(self.table).update({"note": f"'by delta-rs {turn}'"}, predicate=f"id >= {key} AND id < {key} + 3")
            self.rows.update({k: f"by delta-rs {turn}" for k in self.rows if key <= k < key + 3})
            return "update"
        if kind == 2:
            DeltaTable(self.table).delete(f"id = {key}")
            self.rows.pop(key, None)
            return "delete"
        DeltaTable(self.table).optimize.compact()
        return "compact"

    def ours(self, turn: int) -> str:
        if turn % 3 == 0:
            self.w.ours.append(self.table, self.batch())
            return "append"
        low = self.random.randrange(0, max(self.next, 1))
        marker = kinds.MARKER if turn % 3 == 1 else ""
        self.w.ours.call(
            "purge", self.table, archive=self.archive, folder=self.folder, run=f"run-{turn}", column=marker, where=f"id >= {low} AND id < {low + 5}"
        )
        for k in range(low, low + 5):
            self.rows.pop(k, None)
        return "purge " + ("with marker" if marker else "without marker")

    def check(self, what: str, spark: bool) -> None:
        keys = sorted(self.rows)
        expected = pa.table({"id": pa.array(keys, pa.int64()), "note": pa.array([self.rows[k] for k in keys], pa.string())})
        agree(self.w, self.table, what, expected, spark=spark)


def run(w: World) -> None:
    for name, properties in (("plain", {}), ("deletion-vectors", {"delta.enableDeletionVectors": "true"})):
        if name == "plain" or w.full:
            _run(w, name, properties)


def _run(w: World, name: str, properties: dict[str, str]) -> None:
    turns = _Turns(w, name, properties)
    writers: list[tuple[str, Callable[[int], str]]] = [("lakewarden", turns.ours)]
    if w.spark:
        writers.append(("Spark", turns.spark))
    if w.engine("delta-rs") and "delta.enableDeletionVectors" not in properties:
        writers.append(("delta-rs", turns.delta_rs))
    done: dict[str, Any] = {}
    for turn in range(TURNS):
        writer, write = writers[turn % len(writers)]
        count = done.setdefault(writer, 0)
        done[writer] += 1
        what = f"{name}, turn {turn} by {writer}"
        try:
            what += ": " + write(count)
        except Exception as err:
            w.report.broken(what, err)
            return
        turns.check(what, spark=w.full or turn % 10 == 9)
