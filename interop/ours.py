"""lakewarden, as a process that is told what to do (see ours/main.go)."""

import json
import os
import subprocess
import tempfile
import threading
from typing import Any

import pyarrow as pa
import pyarrow.ipc


class Refused(Exception):
    """lakewarden does not do this with the table, because of a feature."""

    def __init__(self, feature: str, message: str) -> None:
        super().__init__(message)
        self.feature = feature


class Failed(Exception):
    """lakewarden could not do it."""


class Ours:
    """One lakewarden process. Calls from several threads wait for each other."""

    name = "lakewarden"

    def __init__(self, program: str, scratch: str) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._scratch = scratch
        self._lock = threading.Lock()

    def call(self, op: str, table: str, **arguments: Any) -> Any:
        line = json.dumps({"op": op, "table": table, **arguments})
        with self._lock:
            assert self._process.stdin and self._process.stdout
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        if answer.get("unsupported"):
            raise Refused(answer["unsupported"], answer["error"])
        if answer.get("error"):
            raise Failed(f"{op}: {answer['error']}")
        return answer.get("result")

    def create(self, table: str, schema: dict[str, Any], partition_by: list[str] = [], properties: dict[str, str] = {}) -> None:
        self.call("create", table, schema=schema, partition_by=partition_by, properties=properties)

    def append(self, table: str, rows: pa.Table) -> int:
        path = self._file()
        try:
            with pa.ipc.new_file(path, rows.schema) as out:
                out.write_table(rows)
            return self.call("append", table, arrow=path)
        finally:
            os.remove(path)

    def read(self, table: str, version: int | None = None) -> pa.Table:
        path = self._file()
        try:
            self.call("rows", table, arrow=path, version=version)
            with pa.OSFile(path) as f:
                return pa.ipc.open_file(f).read_all()
        finally:
            os.remove(path)

    def detail(self, table: str, version: int | None = None) -> dict[str, Any]:
        return self.call("detail", table, version=version)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def _file(self) -> str:
        handle, path = tempfile.mkstemp(suffix=".arrow", dir=self._scratch)
        os.close(handle)
        return path
