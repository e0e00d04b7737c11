"""Who reads what, and whether they agree."""

import os
import shutil
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import kinds
import limits
from engines import Engine, Spark
from ours import Ours
from report import Report
from rowtext import checksum, row_texts, where


@dataclass
class World:
    """What every check is given."""

    ours: Ours
    engines: list[Engine]  # those that could be set up
    report: Report
    work: str
    full: bool
    collection: str = ""  # folder with tables.json, or empty

    def engine(self, name: str) -> Any:
        """The engine, or None when it is not there."""
        return next((e for e in self.engines if e.name == name), None)

    @property
    def spark(self) -> Spark | None:
        return self.engine("Spark")

    def folder(self, name: str) -> str:
        """A path for a new table: nothing lies there."""
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path


def digest(rows: pa.Table, schema: dict[str, Any]) -> tuple[int, str]:
    return rows.num_rows, checksum(row_texts(rows, schema))


def agree(w: World, table: str, what: str, expected: pa.Table | None = None, version: int | None = None, spark: bool = True) -> pa.Table | None:
    """Every engine reads a version of the table: all as lakewarden does, and
    lakewarden as expected. Gives lakewarden's rows."""
    try:
        schema = w.ours.detail(table, version)["schema"]
        rows = w.ours.read(table, version)
    except Exception as err:
        w.report.error("lakewarden", what, err)
        return None
    if expected is not None:
        _compare_expected(w, rows, expected, schema, what)
    for engine in w.engines:
        if engine.name != "Spark" or spark:
            compare(w, engine, table, what, rows, schema, version)
    return rows


def compare(w: World, engine: Engine, table: str, what: str, rows: pa.Table, schema: dict[str, Any], version: int | None = None) -> None:
    """An engine's rows against lakewarden's."""
    try:
        theirs = engine.read(table, version)
        want, got = digest(rows, schema), digest(theirs, schema)
        if got != want and (left_out := limits.columns(engine.name, w.ours.detail(table, version))):
            w.report.cannot[w.report.area, engine.name, left_out[1]] += 1
            schema = without(schema, left_out[0])
            want, got = digest(rows, schema), digest(theirs, schema)
    except Exception as err:
        w.report.error(engine.name, what, err)
        return
    if got == want:
        w.report.ok(engine.name)
    else:
        w.report.error(engine.name, what, Exception(f"other rows: {got[0]} rows {got[1][:12]}, lakewarden {want[0]} rows {want[1][:12]} in {table}"))


def without(schema: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    return {"type": "struct", "fields": [f for f in schema["fields"] if f["name"] not in columns]}


def _compare_expected(w: World, rows: pa.Table, expected: pa.Table, schema: dict[str, Any], what: str) -> None:
    """The rows as the check knows them, over the columns that it knows."""
    known = {"type": "struct", "fields": [f for f in schema["fields"] if f["name"] in expected.column_names]}
    if digest(rows, known) == digest(expected, known):
        w.report.ok("lakewarden")
    else:
        w.report.fail("lakewarden", what, f"{rows.num_rows} rows, expected {expected.num_rows}, or others of them")


def vacuumed(w: World, table: str, what: str) -> None:
    """After a vacuum without retention storage holds the live data files alone."""
    live = w.ours.detail(table)["Files"]
    found = [n for folder, _, names in os.walk(table) if "/_delta_log" not in folder for n in names if n.endswith(".parquet")]
    if len(found) == live:
        w.report.ok("lakewarden")
    else:
        w.report.fail("lakewarden", what, f"{len(found)} data files lie in storage, {live} are live")


def due(rows: pa.Table) -> pa.Table:
    return where(rows, _is_due(rows))


def kept(rows: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    return rows.filter(pc.invert(pc.fill_null(_is_due(rows), False)))


def _is_due(rows: pa.Table) -> Any:
    import pyarrow.compute as pc

    return pc.less(rows.column("event_date"), pa.scalar(kinds.CUTOFF))
