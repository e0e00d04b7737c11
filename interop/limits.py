"""What the other engines cannot do, or do wrongly, by their own words.

Each line: the engine, a pattern of its error, and what it means. docs/interop.md
explains those that concern users. An error that matches none of these fails the
run.
"""

import re
from typing import Any

LIMITS: list[tuple[str, str, str]] = [
    ("delta-rs", r"Unsupported table features required: \[TypeWidening", "type widening is not read"),
    ("delta-rs", r"Column mapping is not supported for read operation 'CHANGE DATA FEED scans'", "change data of tables with column mapping is not read"),
    ("delta-rs", r"Failed to fetch metadata for file [^ ]*=[^/ ]*%25[^ ]*: .*not found", "change data in partitions with escaped paths is not found, in its own tables too"),
]


def reason(engine: str, what: str, error: str) -> str | None:
    """Why the engine cannot, when that is known."""
    for name, pattern, why in LIMITS:
        if name == engine and re.search(pattern, error, re.DOTALL):
            return why
    return None


def columns(engine: str, detail: dict[str, Any]) -> tuple[list[str], str] | None:
    """Columns that the engine reads wrongly in a table, and why: they are left out
    of a second comparison."""
    if engine == "DuckDB" and detail["Mapping"] in ("name", "id") and detail["PartitionBy"]:
        return detail["PartitionBy"], "partition columns of tables with column mapping are read as null"
    return None
