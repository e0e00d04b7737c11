"""Writes Parquet files in every way pyarrow has, and judges what was made of them.

    python pyarrow_files.py write DIR    NAME.parquet and NAME.mask (a 0 or 1 for each row)
    python pyarrow_files.py judge DIR    NAME.out must hold exactly the rows with a 1
"""
import decimal
import itertools
import pathlib
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 5000


def table(seed):
    r = random.Random(seed)

    def col(f, typ, nulls=0.1):
        return pa.array([None if r.random() < nulls else f() for _ in range(ROWS)], typ)

    def text():
        return r.choice(["", "a", "grün", "x" * 100, "v%d" % r.randrange(3000)])

    return pa.table({
        "long": col(lambda: r.randrange(-2**63, 2**63), pa.int64()),
        "few": col(lambda: r.randrange(5), pa.int32()),
        "flag": col(lambda: r.random() < 0.3, pa.bool_()),
        "real": col(lambda: r.choice([0.0, -0.0, float("nan"), r.random()]), pa.float64()),
        "text": col(text, pa.string(), 0.5),
        "bytes": col(lambda: text().encode() + b"\xff", pa.binary()),
        "date": col(lambda: r.randrange(-10000, 40000), pa.date32()),
        "utc": col(lambda: r.randrange(-10**15, 4 * 10**15), pa.timestamp("us", "UTC")),
        "ntz": col(lambda: r.randrange(-10**15, 4 * 10**15), pa.timestamp("us")),
        "money": col(lambda: decimal.Decimal(r.randrange(-10**9, 10**9)).scaleb(-2), pa.decimal128(12, 2)),
        "big": col(lambda: decimal.Decimal(r.randrange(-10**20, 10**20)).scaleb(-5), pa.decimal128(30, 5)),
        "list": col(lambda: [r.randrange(9) if r.random() < 0.8 else None for _ in range(r.randrange(5))], pa.list_(pa.int32())),
        "deep": col(lambda: [[text()] * r.randrange(3) for _ in range(r.randrange(3))], pa.list_(pa.list_(pa.string()))),
        "pair": col(lambda: {"a": r.randrange(100), "b": r.choice([None, {"c": text()}])},
                    pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))])),
        "map": col(lambda: [("k%d" % i, r.random()) for i in range(r.randrange(4))], pa.map_(pa.string(), pa.float64())),
    })


def variants():
    deltas = {"long": "DELTA_BINARY_PACKED", "few": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY",
              "bytes": "DELTA_LENGTH_BYTE_ARRAY", "real": "BYTE_STREAM_SPLIT", "big": "BYTE_STREAM_SPLIT"}
    codecs = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
    for i, (codec, version) in enumerate(itertools.product(codecs, ["1.0", "2.0"])):
        yield "%s_v%s" % (codec, version[0]), dict(
            compression=codec, data_page_version=version, row_group_size=[1200, 5000][i % 2],
            data_page_size=[2000, 1 << 20][i // 2 % 2], write_page_index=i % 3 != 0, write_page_checksum=i % 4 != 0)
    yield "fallback", dict(dictionary_pagesize_limit=500, data_page_size=1000)
    yield "plain", dict(use_dictionary=False)
    yield "int96", dict(use_deprecated_int96_timestamps=True)
    yield "legacy_lists", dict(use_compliant_nested_type=False)
    yield "decimal_integers", dict(store_decimal_as_integer=True)
    for version in ["1.0", "2.0"]:
        yield "deltas_v" + version[0], dict(use_dictionary=False, column_encoding=deltas, data_page_version=version, data_page_size=3000)


def write(folder):
    for seed, (name, options) in enumerate(variants()):
        pq.write_table(table(seed), folder / (name + ".parquet"), **options)
        r = random.Random(-seed)
        mask = [r.random() < 0.4 for _ in range(ROWS)]
        if seed % 3 == 1:  # whole row groups too
            mask[:1200], mask[1200:2400] = [True] * 1200, [False] * 1200
        (folder / (name + ".mask")).write_text("".join("01"[m] for m in mask))


def judge(folder):
    for name, options in variants():
        mask = pa.array([c == "1" for c in (folder / (name + ".mask")).read_text()])
        want = pq.read_table(folder / (name + ".parquet")).filter(mask)
        got = pq.read_table(folder / (name + ".out"), page_checksum_verification=True)
        assert got.column_names == want.column_names, (name, got.column_names)
        for c in want.column_names:
            w, g = want[c].combine_chunks(), got[c].combine_chunks()
            if pa.types.is_timestamp(w.type):
                w, g = w.cast(pa.int64()), g.cast(w.type).cast(pa.int64())
            if repr(w.to_pylist()) != repr(g.to_pylist()):
                raise SystemExit("%s: column %s differs" % (name, c))


{"write": write, "judge": judge}[sys.argv[1]](pathlib.Path(sys.argv[2]))
