"""Writes deltaio/testdata/fixtures: interop/run --fixtures.

Each recipe's table with every version's rows and checksum as its own writer reads
them, never as lakewarden does, so that the tests of deltaio rest on the engine."""

import argparse
import gzip
import json
import os
import shutil
import sys
import tarfile
from typing import Any

import recipes
from engines import DeltaRS, Engine, Spark
from rowtext import checksum, row_texts

README = """# Fixtures

Small tables as other engines write them (`NAME.tar.gz`, one each, since their
paths hold characters that not every file system takes), with what their own
writers read from them at every version (`NAME.json`: rows, checksum in the
encoding of package rowtext, first rows as text). `go test ./deltaio -run Fixtures`
reads them all, and writes to copies.

Made by `interop/run --fixtures`; the recipe of each stands under its name in
`interop/recipes.py`. Tables made anew have other file names and times, and the
same rows.

| table | engine | shows | versions | rows |
|---|---|---|---|---|
"""


def write(engines: dict[str, Engine], root: str, scratch: str) -> None:
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    lines = []
    for recipe in recipes.RECIPES:
        engine = engines[recipe.engine]
        made = os.path.join(scratch, recipe.name)
        shutil.rmtree(made, ignore_errors=True)
        recipes.make(recipe, engine, made)
        _tidy(made)
        versions = expected(engine, made)
        pack(made, os.path.join(root, recipe.name + ".tar.gz"))
        out = {"engine": f"{engine.name} {engine.version}", "shows": recipe.shows, "versions": versions}
        with open(os.path.join(root, recipe.name + ".json"), "w") as f:
            f.write(json.dumps(out, indent=1, ensure_ascii=False) + "\n")
        newest = versions[max(versions, key=int)]
        lines.append(f"| {recipe.name} | {out['engine']} | {recipe.shows} | {len(versions)} | {newest['rows']} |")
        print(lines[-1], flush=True)
    with open(os.path.join(root, "README.md"), "w") as f:
        f.write(README + "\n".join(lines) + "\n")


def pack(table: str, path: str) -> None:
    """One file a table: its paths hold what file systems and module archives refuse.
    Times and owners are left out, so that equal tables pack alike."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 1704067200, 0, 0, "", ""
        return entry

    with open(path, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="w") as out:
        out.add(table, "table", filter=plain)


def _tidy(table: str) -> None:
    """Hadoop's checksum files are no part of a table."""
    for folder, _, names in os.walk(table):
        for name in names:
            if name.endswith(".crc") and name.startswith("."):
                os.remove(os.path.join(folder, name))


def expected(engine: Engine, table: str) -> dict[str, Any]:
    last = max(int(n[:20]) for n in os.listdir(os.path.join(table, "_delta_log")) if n.endswith(".json") and n[:20].isdigit() and len(n) == 25)
    out = {}
    for version in range(last + 1):
        texts = row_texts(engine.read(table, version), schema_at(table, version))
        sample = [t.decode("utf-8", "replace") for t in sorted(texts)[:3]]
        out[str(version)] = {"rows": len(texts), "checksum": checksum(texts), "sample": sample}
    return out


def schema_at(table: str, version: int) -> dict[str, Any]:
    """The schema by the commits alone: these tables keep all of theirs."""
    schema = None
    for v in range(version + 1):
        with open(os.path.join(table, "_delta_log", f"{v:020d}.json")) as f:
            for line in f:
                action = json.loads(line)
                if "metaData" in action:
                    schema = json.loads(action["metaData"]["schemaString"])
    assert schema is not None
    return schema


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jars", required=True)
    options.add_argument("--work", required=True)
    options.add_argument("--to", required=True)
    args = options.parse_args()
    os.makedirs(args.work, exist_ok=True)
    spark = Spark(args.jars, os.path.join(args.work, "spark"))
    write({"Spark": spark, "delta-rs": DeltaRS()}, args.to, args.work)
    spark.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
