"""Other engines read what lakewarden wrote, after each of its operations."""

from typing import Any

import pyarrow as pa

import kinds
from judge import World, agree, due, kept, vacuumed
from kinds import DUE, MARKER, Kind


def run(w: World) -> None:
    for kind in kinds.KINDS:
        try:
            _Life(w, kind).live()
        except Exception as err:
            w.report.broken(kind.name, err)


class _Life:
    """A table from its creation to its vacuum."""

    def __init__(self, w: World, kind: Kind) -> None:
        self.w, self.kind = w, kind
        self.table = w.folder(f"theyread/{kind.name}")
        self.archive = w.folder(f"theyread/{kind.name}.archive")
        self.folder = w.folder(f"theyread/{kind.name}.runs")

    def live(self) -> None:
        self._write()
        self._undone()
        rows = self._purge("first", MARKER)
        self._back(rows)
        self._end(rows)

    def _call(self, op: str, **arguments: Any) -> Any:
        return self.w.ours.call(op, self.table, archive=self.archive, folder=self.folder, where=DUE, **arguments)

    def _agree(self, after: str, expected: pa.Table, spark: bool = False) -> None:
        """Spark is slow: the short form asks it where most has happened."""
        agree(self.w, self.table, f"{self.kind.name} after {after}", expected, spark=spark or self.w.full)

    def _write(self) -> None:
        k = self.kind
        self.w.ours.create(self.table, k.schema(), k.partition_by, k.properties)
        self.w.ours.append(self.table, k.written(0, 30))
        self._agree("append", k.rows(0, 30))
        self.w.ours.append(self.table, k.written(30, 50))
        self._agree("second append", k.rows(0, 50))
        self._call("add_column", name="extra", type="integer")
        self._agree("add column", k.rows(0, 50))

    def _undone(self) -> None:
        plan = self._call("plan", run="undone", column=MARKER)
        self._call("mark", run="undone", column=MARKER, plan=plan["record"])
        self._agree("mark", self.kind.rows(0, 50), spark=True)
        self._call("unmark", run="undone", column=MARKER)
        self._agree("unmark", self.kind.rows(0, 50))

    def _purge(self, run: str, marker: str) -> pa.Table:
        """A purge; gives the rows that stay."""
        k = self.kind
        before = k.rows(0, 50)
        plan = self._call("plan", run=run, column=marker)
        self._call("mark", run=run, column=marker, plan=plan["record"])
        archived = self._call("archive", run=run, column=marker, plan=plan["record"], attempt=1)
        agree(self.w, self.archive, f"archive of {k.name}", due(before), spark=True)
        deleted = self._call("delete", run=run, column=marker, plan=plan["record"], record=archived["record"])
        if deleted["outcome"] != "done":
            raise AssertionError(f"delete: {deleted}")
        left = kept(before)
        self._agree("delete", left)
        return left

    def _back(self, left: pa.Table) -> None:
        """Restore of the rows, of a version, and a purge without a marker."""
        k = self.kind
        all_rows = k.rows(0, 50)
        before = self.w.ours.detail(self.table)["Version"]
        self._call("restore_rows", run="back", purge_of="first", column=MARKER, keys=[k.key])
        self._agree("restore of rows", all_rows, spark=True)
        self._call("restore", version=before)
        self._agree("restore of a version", left)
        self._call("restore", version=before + 1)
        self._agree("restore forwards", all_rows)
        self._call("purge", run="plain", column="")
        self._agree("purge without marker", left)

    def _end(self, left: pa.Table) -> None:
        self._call("checkpoint")
        self._agree("checkpoint", left)
        self._call("vacuum", retention_hours=0.000001, override="a check by other engines", ahead_hours=1)
        self._agree("vacuum", left, spark=True)
        vacuumed(self.w, self.table, f"{self.kind.name} after vacuum")
