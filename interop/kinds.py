"""The kinds of tables that lakewarden makes for the checks: the product of the
features that a purge meets, each with rows that are hard to get right.

Every kind has the columns id (a key), event_date (what decides about the purge)
and note, and others of its own. Rows are the same in every run.
"""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Callable

import pyarrow as pa

# Days before it are due. Half of the rows are; every seventh has no day.
CUTOFF = dt.date(2024, 7, 1)
DUE = "event_date < DATE'2024-07-01'"
MARKER = "_expurgo_flag"

UTC = dt.timezone.utc
# Values that paths, URIs and Hive's escapes each treat in their own way.
SPECIAL = ["plain", "a b", "R&D", "A/A", "é", "50%", "x=y", "a:b", "#?", "%20", "😀", "it's", "a+b", "~", ".", "[0]", None]


@dataclass
class Kind:
    name: str
    columns: list[tuple[str, Any, pa.DataType, Callable[[int], Any]]] = field(default_factory=list)
    partition_by: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)  # of columns
    not_written: tuple[str, ...] = ()  # columns that the writer leaves out: defaults, generated
    key: str = "id"

    def schema(self) -> dict[str, Any]:
        """The Delta schema."""
        return _struct([(name, kind) for name, kind, _, _ in self._all()], self.metadata)

    def rows(self, first: int, last: int) -> pa.Table:
        """Rows first..last-1, complete."""
        return pa.table({name: pa.array([value(i) for i in range(first, last)], type_) for name, _, type_, value in self._all()})

    def written(self, first: int, last: int) -> pa.Table:
        """What is handed to the writer."""
        return self.rows(first, last).drop_columns(list(self.not_written))

    def _all(self) -> list[tuple[str, Any, pa.DataType, Callable[[int], Any]]]:
        return [
            ("id", "long", pa.int64(), lambda i: i),
            ("event_date", "date", pa.date32(), day),
            ("note", "string", pa.string(), lambda i: None if i % 11 == 3 else f"note {i} ü"),
            *self.columns,
        ]


def day(i: int) -> dt.date | None:
    return None if i % 7 == 6 else dt.date(2024, 1, 1) + dt.timedelta(days=9 * i % 365)


def _struct(fields: list[tuple[str, Any]], metadata: dict[str, dict[str, Any]] = {}) -> dict[str, Any]:
    return {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": metadata.get(n, {})} for n, t in fields]}


def _array(element: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def _map(key: Any, value: Any) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def _sometimes(values: list[Any]) -> Callable[[int], Any]:
    return lambda i: values[i % len(values)]


def moment(i: int) -> dt.datetime:
    return dt.datetime(2024, 3, 31, 0, 59, 59, 999999, UTC) + dt.timedelta(hours=i, microseconds=i)


PRIMITIVES = [
    ("c_byte", "byte", pa.int8(), _sometimes([0, 127, -128, None])),
    ("c_short", "short", pa.int16(), _sometimes([0, 32767, -32768, None])),
    ("c_int", "integer", pa.int32(), _sometimes([0, 2**31 - 1, -(2**31), None])),
    ("c_long", "long", pa.int64(), _sometimes([0, 2**63 - 1, -(2**63), None])),
    ("c_float", "float", pa.float32(), _sometimes([0.0, -0.0, float("nan"), float("inf"), 1.5, None])),
    ("c_double", "double", pa.float64(), _sometimes([0.0, -0.0, float("nan"), float("-inf"), 5e-324, None])),
    ("c_dec5", "decimal(5,2)", pa.decimal128(5, 2), _sometimes([Decimal("999.99"), Decimal("-0.01"), None])),
    ("c_dec18", "decimal(18,4)", pa.decimal128(18, 4), _sometimes([Decimal("99999999999999.9999"), Decimal("0.0001"), None])),
    ("c_dec38", "decimal(38,10)", pa.decimal128(38, 10), _sometimes([Decimal("9" * 28 + "." + "9" * 10), Decimal("-1"), None])),
    ("c_binary", "binary", pa.binary(), _sometimes([b"", b"\x00\xff", "é".encode(), None])),
    ("c_bool", "boolean", pa.bool_(), _sometimes([True, False, None])),
    ("c_date", "date", pa.date32(), _sometimes([dt.date(1, 1, 1), dt.date(1582, 10, 15), dt.date(9999, 12, 31), None])),
    ("c_ts", "timestamp", pa.timestamp("us", "UTC"), lambda i: None if i % 5 == 4 else moment(i)),
    ("c_text", "string", pa.string(), _sometimes(["", " ", "a" * 200, "\u0000x", "\U0001f600", None])),
]

NESTED = [
    ("tags", _array("string"), pa.list_(pa.string()), _sometimes([["a", None, "b"], [], None])),
    ("counts", _map("string", "long"), pa.map_(pa.string(), pa.int64()), _sometimes([[("k", 1), ("l", None)], [], None])),
    (
        "person",
        _struct([("first_name", "string"), ("born", "date"), ("scores", _array("double"))]),
        pa.struct([("first_name", pa.string()), ("born", pa.date32()), ("scores", pa.list_(pa.float64()))]),
        _sometimes([{"first_name": "Zoë", "born": dt.date(1999, 12, 31), "scores": [1.5, None]}, {"first_name": None, "born": None, "scores": None}, None]),
    ),
    (
        "orders",
        _array(_struct([("sku", "string"), ("at", "timestamp"), ("parts", _map("string", _struct([("n", "integer")])))])),
        pa.list_(pa.struct([("sku", pa.string()), ("at", pa.timestamp("us", "UTC")), ("parts", pa.map_(pa.string(), pa.struct([("n", pa.int32())])))])),
        _sometimes([[{"sku": "x", "at": moment(1), "parts": [("p", {"n": 1}), ("q", None)]}, None], [], None]),
    ),
]

# Names that need column mapping.
AWKWARD = [
    ("a b;c", "string", pa.string(), lambda i: f"v{i % 3}"),
    ("x.y", "integer", pa.int32(), lambda i: i % 4),
    ("Ünï=", "double", pa.float64(), lambda i: i / 4),
]

REGION = ("region", "string", pa.string(), _sometimes(SPECIAL))
EVERY = {
    "delta.enableDeletionVectors": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.columnMapping.mode": "name",
    "delta.enableInCommitTimestamps": "true",
    "delta.enableRowTracking": "true",
    "delta.checkpointPolicy": "v2",
    "delta.checkpointInterval": "3",
    "delta.constraints.has_id": "id >= 0",
    "delta.feature.timestampNtz": "supported",
}
NTZ = ("local", "timestamp_ntz", pa.timestamp("us"), lambda i: None if i % 4 == 3 else moment(i).replace(tzinfo=None))

KINDS = [
    Kind("primitives", PRIMITIVES),
    Kind("nested", NESTED[:2] + NESTED[3:]),
    Kind("special-partitions", [REGION], ["region"]),
    Kind(
        "typed-partitions",
        [c for c in PRIMITIVES if c[0] in ("c_int", "c_dec5", "c_bool", "c_date", "c_ts")],
        ["c_int", "c_dec5", "c_bool", "c_date", "c_ts"],
    ),
    Kind("dated-partitions", [REGION], ["event_date"]),
    Kind("mapped-by-name", AWKWARD + NESTED, ["a b;c"], {"delta.columnMapping.mode": "name"}),
    Kind("mapped-by-id", AWKWARD + NESTED, ["a b;c"], {"delta.columnMapping.mode": "id"}),
    Kind("deletion-vectors", [], [], {"delta.enableDeletionVectors": "true"}),
    Kind("change-feed", [REGION], ["region"], {"delta.enableChangeDataFeed": "true"}),
    Kind("constraints", [], [], {"delta.constraints.positive": "id >= 0 AND (note IS NULL OR note <> 'never')"}),
    Kind(
        "generated",
        [("id_twice", "long", pa.int64(), lambda i: 2 * i), ("year", "integer", pa.int32(), lambda i: d.year if (d := day(i)) else None)],
        ["year"],
        {},
        {"id_twice": {"delta.generationExpression": "id * 2"}, "year": {"delta.generationExpression": "YEAR(event_date)"}},
        not_written=("id_twice", "year"),
    ),
    Kind(
        "defaults",
        [("country", "string", pa.string(), lambda i: "PT")],
        [],
        {"delta.feature.allowColumnDefaults": "supported"},
        {"country": {"CURRENT_DEFAULT": "'PT'"}},
        not_written=("country",),
    ),
    Kind("row-tracking", [], [], {"delta.enableRowTracking": "true"}),
    Kind("in-commit-timestamps", [], [], {"delta.enableInCommitTimestamps": "true"}),
    Kind("v2-checkpoints", [REGION], ["region"], {"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "3"}),
    Kind("ntz", [NTZ], [], {"delta.feature.timestampNtz": "supported"}),
    Kind("ntz-partitions", [NTZ], ["local"], {"delta.feature.timestampNtz": "supported"}),
    Kind("everything", [REGION, NTZ, *PRIMITIVES, *AWKWARD, *NESTED], ["region"], EVERY),
]
