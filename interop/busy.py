"""Another engine appends, updates and compacts in a loop while lakewarden purges
the same table, again and again. At the end every key that was ever written lies
exactly once, in the table or in the archive, with a value that was written.
"""

import random
import threading
from collections import Counter
from typing import Any, Callable

import pyarrow as pa

import kinds
from engines import Spark
from judge import World, agree
from ours import Failed

KIND = kinds.Kind("busy")
BATCH = 20


class Writer(threading.Thread):
    """The other engine's loop. What it did is known: only what it was told to be
    committed counts."""

    def __init__(self, engine: str, commits: int, act: Callable[["Writer", int], None]) -> None:
        super().__init__(name=engine)
        self.commits, self.act = commits, act
        self.done, self.conflicts, self.keys = 0, 0, 0
        self.random = random.Random(11)
        self.written: dict[int, list[str | None]] = {}  # values of a key, in order
        self.unsure: list[str] = []

    def run(self) -> None:
        turn = 0
        while self.done < self.commits and not self.unsure:
            try:
                self.act(self, turn)
                self.done += 1
            except Exception as err:
                if any(word in str(err) for word in ("DELTA_CONCURRENT", "oncurrent", "onflict", "Metadata changed", "commit failed")):
                    self.conflicts += 1
                else:
                    self.unsure.append(f"{type(err).__name__}: {str(err)[:500]}")
            turn += 1

    def appended(self, rows: pa.Table) -> None:
        self.keys += rows.num_rows
        for row in rows.to_pylist():
            self.written[row["id"]] = [row["note"]]

    def updated(self, keys: range, note: str) -> None:
        for key in keys:
            if key in self.written:
                self.written[key].append(note)


def _spark(spark: Spark, table: str) -> Callable[[Writer, int], None]:
    def act(w: Writer, turn: int) -> None:
        if turn % 5 in (0, 2):
            rows = KIND.rows(w.keys, w.keys + BATCH)
            spark.frame(rows).write.format("delta").mode("append").save(table)
            w.appended(rows)
        elif turn % 5 == 4:
            spark.sql(f"OPTIMIZE delta.`{table}`")
        else:
            low = w.random.randrange(max(w.keys, 1))
            spark.sql(f"UPDATE delta.`{table}` SET note = 'turn {turn}' WHERE id >= {low} AND id < {low + 5}")
            w.updated(range(low, low + 5), f"turn {turn}")

    return act


def _delta_rs(table: str) -> Callable[[Writer, int], None]:
    from deltalake import DeltaTable, write_deltalake

    def act(w: Writer, turn: int) -> None:
        if turn % 5 in (0, 2):
            rows = KIND.rows(w.keys, w.keys + BATCH)
            write_deltalake(table, rows, mode="append", schema_mode="merge")
            w.appended(rows)
        elif turn % 5 == 4:
            DeltaTable(table).optimize.compact()
        else:
            low = w.random.randrange(max(w.keys, 1))
            DeltaTable(table).update({"note": f"'turn {turn}'"}, predicate=f"id >= {low} AND id < {low + 5}")
            w.updated(range(low, low + 5), f"turn {turn}")

    return act


def run(w: World) -> None:
    if w.spark:
        _busy(w, "Spark", 200 if w.full else 12, lambda table: _spark(w.spark, table))  # type: ignore[arg-type]
    if w.engine("delta-rs"):
        _busy(w, "delta-rs", 400 if w.full else 40, _delta_rs)


def _busy(w: World, engine: str, commits: int, act: Callable[[str], Callable[[Writer, int], None]]) -> None:
    table = w.folder(f"busy/{engine}")
    archive, folder = table + ".archive", table + ".runs"
    w.ours.create(table, KIND.schema(), [], {"delta.checkpointInterval": "10"})
    writer = Writer(engine, commits, act(table))
    outcomes: Counter[str] = Counter()

    def purge(n: int) -> None:
        marker = kinds.MARKER if n % 3 else ""
        try:
            done = w.ours.call("purge", table, archive=archive, folder=folder, run=f"run-{n}", column=marker, where=kinds.DUE)
            outcomes[done["outcome"]] += 1
        except Failed as err:
            if "onflict" not in str(err):
                raise
            outcomes["conflict"] += 1
            w.ours.call("undo", table, archive=archive, folder=folder, run=f"run-{n}", column=marker, where=kinds.DUE)

    writer.start()
    runs = 0
    try:
        while writer.is_alive():
            purge(runs)
            runs += 1
        writer.join()
        purge(runs)
    except Exception as err:
        w.report.broken(f"purge beside {engine}", err)
        writer.commits = 0
        writer.join()
        return
    print(f"  {engine}: {writer.done} commits ({writer.conflicts} more gave way), {runs + 1} purges: {dict(outcomes)}")
    if writer.unsure:
        w.report.fail(engine, "its writes", writer.unsure[0])
    if not outcomes["done"]:
        w.report.fail("lakewarden", f"purges beside {engine}", f"none was done: {dict(outcomes)}")
    _count(w, engine, table, archive, writer)


def _count(w: World, engine: str, table: str, archive: str, writer: Writer) -> None:
    left, gone = agree(w, table, f"table beside {engine}"), agree(w, archive, f"archive beside {engine}")
    if left is None or gone is None:
        return
    keys = Counter(left.column("id").to_pylist() + gone.column("id").to_pylist())
    wrong = {k: keys[k] for k in set(keys) | set(writer.written) if keys[k] != 1}
    due = set(KIND.rows(0, writer.keys).filter(_due(writer.keys)).column("id").to_pylist())
    misplaced = due & set(left.column("id").to_pylist()) or set(gone.column("id").to_pylist()) - due
    values = [(k, v) for k, v in _notes(left) if v != writer.written[k][-1]] if not wrong else []
    foreign = [(k, v) for k, v in _notes(gone) if v not in writer.written[k]] if not wrong else []
    for what, bad in (("keys lost or doubled", wrong), ("keys on the wrong side", misplaced), ("values of the table", values), ("values of the archive", foreign)):
        if bad:
            w.report.fail("lakewarden", f"{what} beside {engine}", str(bad)[:400])
        else:
            w.report.ok("lakewarden")


def _notes(rows: pa.Table) -> list[tuple[int, Any]]:
    return list(zip(rows.column("id").to_pylist(), rows.column("note").to_pylist()))


def _due(n: int) -> Any:
    return pa.array([(d := kinds.day(i)) is not None and d < kinds.CUTOFF for i in range(n)])
