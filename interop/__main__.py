"""The interop checks: python3 interop [area ...]. See run, which sets them up."""

import argparse
import os
import sys

import alternate
import busy
import collection
import commands
import theyread
import weread
from engines import DeltaRS, DuckDB, Engine, Spark
from judge import World
from ours import Ours
from report import Report

AREAS = {
    "they read ours": theyread.run,
    "we read theirs": weread.run,
    "in turns": alternate.run,
    "commands of Spark": commands.run,
    "at the same time": busy.run,
    "others' tables": collection.run,
}


def engines(report: Report, args: argparse.Namespace) -> list[Engine]:
    """Those that can be set up. Each failure is said; the others still judge."""
    makers = {
        "delta-rs": DeltaRS,
        "DuckDB": DuckDB,
        "Spark": lambda: Spark(args.jars, os.path.join(args.work, "spark")),
    }
    found: list[Engine] = []
    for name, make in makers.items():
        if name in args.without:
            report.skip(f"{name}: not asked for")
            continue
        try:
            engine = make()
        except Exception as err:
            report.skip(f"{name}: COULD NOT BE SET UP: {err}")
            continue
        print(f"{name} {engine.version}", flush=True)
        found.append(engine)
    return found


def main() -> int:
    options = argparse.ArgumentParser(prog="interop", description=__doc__)
    options.add_argument("areas", nargs="*", help=f"of {', '.join(AREAS)}; none: all")
    options.add_argument("--ours", required=True, help="the program built from interop/ours")
    options.add_argument("--jars", default="", help="folder with the jars of Delta Lake for Spark")
    options.add_argument("--work", required=True, help="folder for the tables, emptied")
    options.add_argument("--without", action="append", default=[], help="an engine to leave out")
    args = options.parse_args()
    os.makedirs(args.work, exist_ok=True)
    report = Report()
    ours = Ours(args.ours, args.work)
    w = World(
        ours, engines(report, args), report, args.work,
        full=os.environ.get("LAKEWARDEN_INTEROP") == "full", collection=os.environ.get("LAKEWARDEN_TABLES", ""),
    )
    for area, run in AREAS.items():
        if args.areas and area not in args.areas:
            continue
        report.start(area)
        run(w)
        report.stop()
    ours.close()
    if w.spark:
        w.spark.close()
    return 0 if report.close() else 1


if __name__ == "__main__":
    sys.exit(main())
