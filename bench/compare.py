"""Whole operations of lakewarden and of its peers, on copies of the same table.

usage: compare.py OURS JARS WORKDIR [--rows N] [--repeat N] [--without spark] [--write docs/benchmarks.md]

Every repetition runs all sides one after the other, each in a process of its own
on a fresh copy of the table, so that a noisy machine is noisy for all of them.
What counts is the ratio of the medians.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    name: str
    command: str  # "ours …" or a work of peers.py
    layout: str = "unsorted"
    codec: str = "snappy"


@dataclass(frozen=True)
class Comparison:
    """One question, and the sides that answer it; the first side is ours."""

    title: str
    bar: str
    measure: str  # wall_s or cpu_s
    sides: tuple[Side, ...]


COMPARISONS = (
    Comparison(
        "Purge a quarter of the rows, unsorted",
        "10 times faster than the notebook on Spark, 2 times faster than delta-rs",
        "wall_s",
        (
            Side("lakewarden: plan, mark, archive, verify, delete, verify, audit", "ours purge"),
            Side("delta-rs: filter to an archive, delete", "delta-rs-purge"),
            Side("Spark: flag, archive, MERGE, audit", "spark-purge"),
        ),
    ),
    Comparison(
        "Split each file into due and kept rows, snappy",
        "at most the CPU of DuckDB's one pass",
        "cpu_s",
        (Side("lakewarden: plan and mark", "ours mark"), Side("DuckDB: one pass to files", "duckdb-split")),
    ),
    Comparison(
        "Split each file into due and kept rows, zstd",
        "at most the CPU of DuckDB's one pass",
        "cpu_s",
        (
            Side("lakewarden: plan and mark", "ours mark", codec="zstd"),
            Side("DuckDB: one pass to files", "duckdb-split-zstd", codec="zstd"),
        ),
    ),
    Comparison(
        "Scan all columns to Arrow",
        "at most 1.1 times the CPU of DuckDB",
        "cpu_s",
        (Side("lakewarden", "ours scan"), Side("DuckDB", "duckdb-scan")),
    ),
    Comparison(
        "Mark rows whose date is clustered by file",
        "at most 1.5 times the CPU of a plain copy of the affected files",
        "cpu_s",
        (Side("lakewarden: plan and mark", "ours mark", layout="sorted"), Side("copy of the files with due rows", "copy-due", layout="sorted")),
    ),
    Comparison(
        "Purge whole files, without a marker column",
        "no data file is rewritten",
        "cpu_s",
        (Side("lakewarden: the whole purge", "ours purge --mark none", layout="sorted"),),
    ),
)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("ours")
    options.add_argument("jars")
    options.add_argument("workdir")
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--without", action="append", default=[])
    options.add_argument("--write", help="Markdown file whose part between the bench markers is replaced")
    args = options.parse_args()

    text = [f"{args.rows:,} rows in 20 files, {os.cpu_count()} cores, medians of {args.repeat} runs; every side works on a fresh copy.", ""]
    for comparison in COMPARISONS:
        text += report(comparison, run(comparison, args))
    out = "\n".join(text)
    print(out)
    if args.write:
        replace(args.write, out)


def run(comparison: Comparison, args) -> dict[Side, list[dict]]:
    sides = [s for s in comparison.sides if not any(w in s.command for w in args.without)]
    figures: dict[Side, list[dict]] = {s: [] for s in sides}
    for _ in range(args.repeat):
        for side in sides:
            figures[side].append(once(side, args))
            print(comparison.title, "|", side.name, "|", figures[side][-1], file=sys.stderr, flush=True)
    return figures


def once(side: Side, args) -> dict:
    source = table(side, args)
    copy = os.path.join(args.workdir, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    try:
        if side.command.startswith("ours "):
            verb, *flags = side.command.split()[1:]
            command = [args.ours, verb, copy, *flags]
        else:
            command = [sys.executable, os.path.join(os.path.dirname(__file__), "peers.py"), side.command, copy]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "DELTA_JARS": args.jars})
        return json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.CalledProcessError as failed:
        sys.exit(f"{' '.join(command)}: exit {failed.returncode}\n{failed.stderr[-2000:]}")
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def table(side: Side, args) -> str:
    """The folder of a generated table, written once."""
    folder = os.path.join(args.workdir, f"{side.layout}-{side.codec}-{args.rows}")
    if not os.path.isdir(folder):
        partial = folder + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        subprocess.run([args.ours, "gen", partial, "-rows", str(args.rows), "-layout", side.layout, "-codec", side.codec], check=True)
        os.rename(partial, folder)
    return folder


def report(comparison: Comparison, figures: dict[Side, list[dict]]) -> list[str]:
    def median(side: Side, key: str) -> float:
        return statistics.median(f[key] for f in figures[side])

    ours = next(iter(figures))
    what = {"wall_s": "wall time", "cpu_s": "CPU time"}[comparison.measure]
    lines = [f"### {comparison.title}", "", f"Bar: {comparison.bar}.", ""]
    lines += [f"| | wall s | CPU s | peak MiB | {what}, ours = 1 |", "|---|---|---|---|---|"]
    for side in figures:
        ratio = median(side, comparison.measure) / median(ours, comparison.measure)
        lines.append(f"| {side.name} | {median(side, 'wall_s'):.2f} | {median(side, 'cpu_s'):.2f} | {median(side, 'peak_mib'):.0f} | {ratio:.2f} |")
    return [*lines, ""]


def replace(path: str, text: str):
    begin, end = "<!-- bench: begin -->", "<!-- bench: end -->"
    with open(path, encoding="utf-8") as file:
        old = file.read()
    head, rest = old.split(begin, 1)
    _, tail = rest.split(end, 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{head}{begin}\n\n{text}\n{end}{tail}")


if __name__ == "__main__":
    main()
