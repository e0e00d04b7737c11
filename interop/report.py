"""What was checked, and how it came out.

A check is one look of one engine at one state of one table. It agrees; or it
fails, which makes the whole run fail; or the engine cannot do it, which must
stand in limits.py: a limit that nobody named is a failure, so that "every
engine agrees" cannot come to mean "no engine could read it".
"""

import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

import limits


@dataclass
class Report:
    agreed: Counter[tuple[str, str]] = field(default_factory=Counter)
    cannot: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    area: str = ""

    def start(self, area: str) -> None:
        self.area, self._begun = area, time.monotonic()
        print(f"== {area}", flush=True)

    def stop(self) -> None:
        self.seconds[self.area] = time.monotonic() - self._begun

    def ok(self, engine: str) -> None:
        self.agreed[self.area, engine] += 1

    def fail(self, engine: str, what: str, why: str) -> None:
        line = f"{self.area}: {what}: {engine}: {why}"
        self.failed.append(line)
        print(f"FAILED {line}", flush=True)

    def error(self, engine: str, what: str, err: Exception) -> None:
        """An engine gave an error instead of an answer."""
        reason = limits.reason(engine, what, str(err))
        if reason is None:
            self.fail(engine, what, f"{type(err).__name__}: {str(err)[:600]}")
        else:
            self.cannot[self.area, engine, reason] += 1

    def broken(self, what: str, err: Exception) -> None:
        """A check itself could not go on."""
        self.fail("check", what, "".join(traceback.format_exception(err))[-1500:])

    def skip(self, what: str) -> None:
        self.skipped.append(what)
        print(f"SKIPPED {what}", flush=True)

    def close(self) -> bool:
        """Prints everything; true when nothing failed."""
        print("\n== interop")
        engines = sorted({e for _, e in self.agreed})
        for area in self.seconds:
            counts = ", ".join(f"{e} {self.agreed[area, e]}" for e in engines if self.agreed[area, e])
            print(f"{area} ({self.seconds[area]:.0f} s): agreed: {counts or 'nothing'}")
        for (area, engine, reason), n in sorted(self.cannot.items()):
            print(f"cannot: {area}: {engine}: {reason} ({n} times)")
        for line in self.skipped:
            print(f"skipped: {line}")
        for line in self.failed:
            print(f"failed: {line}")
        print(f"{sum(self.agreed.values())} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        return not self.failed
