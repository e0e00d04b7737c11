"""Purge, restore and vacuum on a copy of every table of a collection of others'
tables (LAKEWARDEN_TABLES: a folder with tables.json), judged by the other
engines. Conditions that split a table in half are those of docs/tables.md.

An engine judges a table only if it reads the untouched copy as lakewarden does:
what it cannot read or reads otherwise there is no fault of a purge, and is said.
"""

import json
import os
import re
import shutil
from typing import Any

import kinds
from judge import World, agree, digest
from ours import Failed, Refused
from weread import digest_of_both

CONDITIONS = os.path.join(os.path.dirname(__file__), "..", "docs", "tables.md")


def run(w: World) -> None:
    if not w.full:
        w.report.skip("others' tables: only with LAKEWARDEN_INTEROP=full")
        return
    if not w.collection:
        w.report.skip("others' tables: LAKEWARDEN_TABLES names no folder with tables.json")
        return
    with open(os.path.join(w.collection, "tables.json")) as f:
        tables = json.load(f)
    by_name = conditions()
    for table in tables:
        name = table["name"]
        if table["behaviour"]["read"].startswith("must fail"):
            continue
        if by_name.get(name) is None:
            w.report.skip(f"{name}: it cannot be split, or is refused (docs/tables.md)")
            continue
        try:
            _Copy(w, name, os.path.join(w.collection, table["path"])).judge(by_name[name])
        except (Failed, Refused) as err:
            w.report.fail("lakewarden", name, str(err)[:400])
        except Exception as err:
            w.report.broken(name, err)


def conditions() -> dict[str, str | None]:
    """The condition of each table in docs/tables.md; None where it has none."""
    out: dict[str, str | None] = {}
    with open(CONDITIONS) as f:
        for line in f:
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)]
            if len(cells) > 7 and "/" in cells[1]:
                refused = cells[7].startswith(("refused", "not tried"))
                out[cells[1]] = None if refused else cells[3].replace("\\|", "|")
    return out


class _Copy:
    def __init__(self, w: World, name: str, source: str) -> None:
        self.w, self.name = w, name
        self.table = w.folder(f"collection/{name}")
        self.archive, self.folder = self.table + ".archive", self.table + ".runs"
        for leftover in (self.archive, self.folder):
            shutil.rmtree(leftover, ignore_errors=True)
        shutil.copytree(source, self.table)

    def judge(self, condition: str) -> None:
        w = self.w
        able = World(w.ours, [e for e in w.engines if self.reads(e)], w.report, w.work, w.full)
        schema = w.ours.detail(self.table)["schema"]
        before, version = w.ours.read(self.table), w.ours.detail(self.table)["Version"]
        self.purge(condition)
        after = agree(able, self.table, f"{self.name} after purge")
        archived = agree(able, self.archive, f"archive of {self.name}")
        if after is None or archived is None:
            return
        if digest_of_both(after, archived, schema) == digest(before, schema):
            w.report.ok("lakewarden")
        else:
            w.report.fail("lakewarden", self.name, "kept and archived rows are not the rows before")
        w.ours.call("restore", self.table, version=version)
        agree(able, self.table, f"{self.name} after restore", before)
        w.ours.call("vacuum", self.table, retention_hours=0.000001, override="a check by other engines", ahead_hours=1)
        agree(able, self.table, f"{self.name} after vacuum", before)

    def reads(self, engine: Any) -> bool:
        """Whether the engine reads the untouched copy as lakewarden does."""
        schema = self.w.ours.detail(self.table)["schema"]
        want = digest(self.w.ours.read(self.table), schema)
        try:
            got = digest(engine.read(self.table), schema)
            why = f"reads {got[0]} rows, lakewarden {want[0]}, or others of them" if got != want else ""
        except Exception as err:
            why = re.sub(r"\s+", " ", str(err))[:160]
        if why:
            self.w.report.cannot["others' tables", engine.name, f"{self.name} as it came: {why}"] += 1
        return not why

    def purge(self, condition: str) -> None:
        for marker in (kinds.MARKER, ""):
            try:
                self.w.ours.call("purge", self.table, archive=self.archive, folder=self.folder, run="purge" + marker.replace("_", ""), column=marker, where=condition)
                return
            except Refused as err:
                if not marker or err.feature == "archive":
                    raise
