"""lakewarden reads what other engines wrote, at every version, and purges it;
the writer and the others judge."""

import os
import shutil
import tarfile
from typing import Any

import pyarrow as pa

import kinds
import recipes
from judge import World, agree, digest, vacuumed
from recipes import Recipe
from rowtext import checksum, row_texts

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "deltaio", "testdata", "fixtures")


def run(w: World) -> None:
    for recipe in recipes.RECIPES:
        writer = w.engine(recipe.engine)
        table = w.folder(f"weread/{recipe.name}")
        if recipe.engine == "Spark" and not w.full:
            _unpack(recipe, table)
        elif writer is None:
            continue
        elif not _make(w, recipe, writer, table):
            continue
        try:
            _versions(w, recipe, table)
            _purge(w, recipe, table)
        except Exception as err:
            w.report.broken(recipe.name, err)


def _unpack(recipe: Recipe, table: str) -> None:
    """The short form takes Spark's tables from the fixtures: to write them takes
    Spark minutes."""
    with tarfile.open(os.path.join(FIXTURES, recipe.name + ".tar.gz")) as packed:
        packed.extractall(os.path.dirname(table) + "/.unpacked", filter="data")
    shutil.move(os.path.dirname(table) + "/.unpacked/table", table)


def _make(w: World, recipe: Recipe, writer: Any, table: str) -> bool:
    try:
        recipes.make(recipe, writer, table)
    except Exception as err:
        w.report.error(recipe.engine, f"write {recipe.name}", err)
        return False
    return True


def _versions(w: World, recipe: Recipe, table: str) -> None:
    """Every version. What Spark itself reads of Spark's tables stands in the fixtures
    too, so that the short form need not ask it again."""
    last = w.ours.detail(table)["Version"]
    agree(w, table, f"{recipe.name} as written", spark=w.full or recipe.engine != "Spark")
    for version in range(last):
        agree(w, table, f"{recipe.name} version {version}", version=version, spark=w.full)


def _purge(w: World, recipe: Recipe, table: str) -> None:
    """A purge of what another engine wrote, then a look by all of them."""
    before = w.ours.read(table)
    schema = w.ours.detail(table)["schema"]
    archive, folder = w.folder(f"weread/{recipe.name}.archive"), w.folder(f"weread/{recipe.name}.runs")
    done = w.ours.call("purge", table, archive=archive, folder=folder, run="purge", where=due_of(schema), column=kinds.MARKER)
    what = f"{recipe.name} after purge"
    after = agree(w, table, what)
    archived = agree(w, archive, f"archive of {recipe.name}", spark=w.full)
    if after is None or archived is None:
        return
    both = digest_of_both(after, archived, schema)
    if done["outcome"] == "done" and both == digest(before, schema):
        w.report.ok("lakewarden")
    else:
        w.report.fail("lakewarden", what, f"{done['outcome']}: kept and archived rows are not the rows before")
    w.ours.call("checkpoint", table)
    w.ours.call("vacuum", table, retention_hours=0.000001, override="a check by other engines", ahead_hours=1)
    agree(w, table, f"{recipe.name} after vacuum", after, spark=w.full)
    vacuumed(w, table, f"{recipe.name} after vacuum")


def due_of(schema: dict[str, Any]) -> str:
    kind = next(f["type"] for f in schema["fields"] if f["name"] == "event_date")
    return kinds.DUE if kind == "date" else "event_date < TIMESTAMP_NTZ'2024-04-01 00:00:00'"


def digest_of_both(a: pa.Table, b: pa.Table, schema: dict[str, Any]) -> tuple[int, str]:
    texts = row_texts(a, schema) + row_texts(b, schema)
    return len(texts), checksum(texts)
