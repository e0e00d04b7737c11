"""Rows as canonical text, and the checksum of a set of rows.

Equal values give equal bytes, whichever engine read them and whatever encoded
them in a file: null; true and false; integers in decimal digits; f and d with
the hex digits of a float's bits; m and a decimal's digits; s<bytes>:<utf8>;
b<bytes>:<hex>; D<days>; T<micros> and N<micros> of timestamps with and without
zone; [a,b]; {k=v,...} with entries in byte order; (a,b) of structs and rows.

The text follows the table's Delta schema, not the type an engine chose. What an
engine must not choose freely, such as whether a timestamp has a zone, is an
error.
"""

import hashlib
import struct
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

NULL = b"null"


class WrongType(Exception):
    """An engine gave a column a type that its Delta type does not allow."""


def row_texts(rows: pa.Table, schema: dict[str, Any]) -> list[bytes]:
    """The text of each row, by the fields of a Delta schema (as in schemaString)."""
    columns = []
    for field in schema["fields"]:
        column = rows.column(field["name"])
        columns.append(_texts(_plain(column), field["type"], field["name"]))
    return [b"(" + b",".join(row) + b")" for row in zip(*columns)] if columns else []


def checksum(texts: list[bytes]) -> str:
    """SHA-256 over the sorted hex SHA-256 of every row, each with a newline."""
    lines = sorted(hashlib.sha256(t).hexdigest() for t in texts)
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _plain(column: Any) -> pa.Array:
    """One array without chunks and dictionaries."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def _texts(arr: pa.Array, kind: Any, name: str) -> list[bytes]:
    if isinstance(kind, dict):
        return _nested(arr, kind, name)
    if pa.types.is_dictionary(arr.type):
        arr = arr.dictionary_decode()
    if kind == "void" or pa.types.is_null(arr.type):
        return [NULL] * len(arr)
    values, write = _leaf(arr, kind, name)
    return [NULL if v is None else write(v) for v in values]


def _leaf(arr: pa.Array, kind: str, name: str) -> tuple[list[Any], Any]:
    if kind in ("byte", "short", "integer", "long"):
        return arr.cast(pa.int64()).to_pylist(), lambda v: b"%d" % v
    if kind == "boolean":
        return arr.to_pylist(), lambda v: b"true" if v else b"false"
    if kind == "float":
        return arr.cast(pa.float32()).to_pylist(), lambda v: _bits("f", ">f", v)
    if kind == "double":
        return arr.cast(pa.float64()).to_pylist(), lambda v: _bits("d", ">d", v)
    if kind == "string":
        return arr.cast(pa.string()).to_pylist(), lambda v: b"s%d:%s" % (len(v.encode()), v.encode())
    if kind == "binary":
        return arr.cast(pa.binary()).to_pylist(), lambda v: b"b%d:%s" % (len(v), v.hex().encode())
    if kind == "date":
        return arr.cast(pa.date32()).cast(pa.int32()).to_pylist(), lambda v: b"D%d" % v
    if kind.startswith("decimal"):
        precision, scale = (int(n) for n in kind[len("decimal(") : -1].split(","))
        return arr.cast(pa.decimal128(precision, scale)).to_pylist(), lambda v: b"m" + format(v, "f").encode()
    if kind in ("timestamp", "timestamp_ntz"):
        if not pa.types.is_timestamp(arr.type) or (arr.type.tz is None) != (kind == "timestamp_ntz"):
            raise WrongType(f"column {name}: {arr.type} for a {kind}")
        micros = arr.cast(pa.timestamp("us", arr.type.tz)).cast(pa.int64())
        return micros.to_pylist(), lambda v: b"%s%d" % (b"T" if kind == "timestamp" else b"N", v)
    raise WrongType(f"column {name}: type {kind} has no text")


def _bits(letter: str, form: str, value: float) -> bytes:
    if value != value:
        return f"{letter}nan".encode()
    return letter.encode() + struct.pack(form, value).hex().encode()


def _nested(arr: pa.Array, kind: dict[str, Any], name: str) -> list[bytes]:
    valid = arr.is_valid().to_pylist()
    if kind["type"] == "struct":
        fields = [_texts(arr.field(_index(arr, f["name"], name)), f["type"], f"{name}.{f['name']}") for f in kind["fields"]]
        return [b"(" + b",".join(f[i] for f in fields) + b")" if ok else NULL for i, ok in enumerate(valid)]
    at = arr.offsets.to_pylist()
    if kind["type"] == "array":
        values = _texts(arr.values, kind["elementType"], name + "[]")
        return [b"[" + b",".join(values[at[i] : at[i + 1]]) + b"]" if ok else NULL for i, ok in enumerate(valid)]
    keys, items = _texts(arr.keys, kind["keyType"], name + ".key"), _texts(arr.items, kind["valueType"], name + ".value")
    return [
        b"{" + b",".join(sorted(k + b"=" + v for k, v in zip(keys[at[i] : at[i + 1]], items[at[i] : at[i + 1]]))) + b"}" if ok else NULL
        for i, ok in enumerate(valid)
    ]


def _index(arr: pa.StructArray, member: str, name: str) -> int:
    at = arr.type.get_field_index(member)
    if at < 0:
        raise WrongType(f"column {name}: no member {member} in {arr.type}")
    return at


def where(rows: pa.Table, mask: Any) -> pa.Table:
    """The rows for which mask is true; null counts as false."""
    return rows.filter(pc.fill_null(mask, False))
