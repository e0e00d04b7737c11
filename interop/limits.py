"""What the other engines cannot do, or do wrongly, by their own words.

Each line: the engine, a pattern of its error, and what it means. docs/interop.md
explains those that concern users. An error that matches none of these fails the
run.
"""

import re

LIMITS: list[tuple[str, str, str]] = [
    ("delta-rs", r"Unsupported table features required: \[TypeWidening", "type widening is not read"),
]


def reason(engine: str, what: str, error: str) -> str | None:
    """Why the engine cannot, when that is known."""
    for name, pattern, why in LIMITS:
        if name == engine and re.search(pattern, error, re.DOTALL):
            return why
    return None
