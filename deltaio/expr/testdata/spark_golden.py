"""Writes golden.tsv, types.tsv and predicates.tsv from Spark's own answers.

Recipe: python3 -m venv v && v/bin/pip install pyspark==3.5.6 && v/bin/python spark_golden.py
(Java 17). Values are in the session zone America/Los_Angeles.
"""
import csv
import os
import sys

from pyspark.sql import SparkSession

HERE = os.path.dirname(os.path.abspath(__file__))
spark = (SparkSession.builder.master("local[1]")
         .config("spark.ui.enabled", "false")
         .config("spark.sql.session.timeZone", "America/Los_Angeles")
         .config("spark.sql.ansi.enabled", "false")
         .config("spark.sql.legacy.timeParserPolicy", "CORRECTED")
         .getOrCreate())
spark.sparkContext.setLogLevel("OFF")


def escape(s):
    return s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")


def lines(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [l.rstrip("\n") for l in f if l.strip() and not l.startswith("#")]


def evaluate(e):
    try:
        df = spark.sql("select " + e + " as x")
        t = df.schema[0].dataType.simpleString()
        text = "hex(x)" if t == "binary" else "cast(x as string)"
        v = df.selectExpr(text).collect()[0][0]
        return t, "NULL" if v is None else "=" + v
    except Exception:
        return "ERROR", ""


def golden():
    with open(os.path.join(HERE, "golden.tsv"), "w", encoding="utf-8") as f:
        for e in lines("expressions.txt"):
            t, v = evaluate(e)
            f.write("\t".join([e, t, escape(v)]) + "\n")


TYPES = ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(38,10)",
         "string", "binary", "date", "timestamp", "timestamp_ntz", "void"]
PAIRS = ["{a} = {b}", "{a} < {b}", "{a} in ({b})", "coalesce({a},{b})", "{a} + {b}", "{a} - {b}", "{a} * {b}",
         "{a} / {b}", "{a} % {b}"]
SINGLES = ["lower({a})", "length({a})", "substring({a},1,2)", "year({a})", "hour({a})", "abs({a})", "-{a}", "+{a}",
           "date_add({a},1)", "date_add(date'2024-01-01',{a})", "add_months(date'2024-01-01',{a})",
           "datediff({a},date'2024-01-01')", "last_day({a})", "floor({a})", "ceil({a})", "round({a})", "round({a},1)",
           "isnan({a})", "to_date({a})", "to_timestamp({a})", "to_date({a},'yyyy')", "concat({a},'x')", "{a} || {a}",
           "{a} like 'a'", "{a} rlike 'a'", "not {a}", "{a} and true", "if({a},1,2)", "nullif({a},1)", "trim({a})",
           "{a} is true", "{a} is null", "{a} + interval 1 day", "{a} + interval 1 month", "{a} + interval 1 hour",
           "{a} between 1 and 2", "{a} in (1,'a')", "coalesce({a},1,'a')", "{a} <=> 1", "{a} = 1", "{a} > 1.5",
           "{a} + 1.5", "{a} * 2", "{a} / 3", "{a} = '1'", "{a} = null", "startswith({a},'a')"]


def types():
    names = ["c%d" % i for i in range(len(TYPES))]
    df = spark.sql("select " + ",".join("null as " + n if t == "void" else "cast(null as %s) as %s" % (t, n)
                                        for t, n in zip(TYPES, names)))

    def result(e):
        try:
            return df.selectExpr(e + " as x").schema[0].dataType.simpleString()
        except Exception:
            return "ERROR"

    with open(os.path.join(HERE, "types.tsv"), "w", encoding="utf-8") as f:
        for a, ca in zip(TYPES, names):
            for b, cb in zip(TYPES, names):
                casts = ["ERROR", "ERROR"] if b == "void" else [result("cast(%s as %s)" % (ca, b)), result("try_cast(%s as %s)" % (ca, b))]
                f.write("\t".join([a, b] + [result(p.format(a=ca, b=cb)) for p in PAIRS] + casts) + "\n")
        for p in SINGLES:
            f.write("\t".join(["single", p] + [result(p.format(a=c)) for c in names]) + "\n")


def predicates():
    with open(os.path.join(HERE, "rows.tsv"), encoding="utf-8") as f:
        rows = list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = [c.split(" ", 1) for c in rows[0]]
    selects = []
    for i, row in enumerate(rows[1:]):
        selects.append("select %d as row, " % i + ", ".join(
            "cast(%s as %s) as %s" % (v, t, n) for v, (n, t) in zip(row, columns)))
    # cached, so that Spark cannot fold the columns away
    df = spark.sql(" union all ".join(selects)).coalesce(1).persist()
    df.count()
    with open(os.path.join(HERE, "predicates.tsv"), "w", encoding="utf-8") as f:
        for e in lines("predicates.txt"):
            try:
                out = df.selectExpr("row", "(" + e + ") as x").orderBy("row").collect()
                f.write(e + "\t" + "".join({True: "T", False: "F", None: "N"}[r.x] for r in out) + "\n")
            except Exception:
                f.write(e + "\tERROR\n")


if __name__ == "__main__":
    for step in sys.argv[1:] or ["golden", "types", "predicates"]:
        {"golden": golden, "types": types, "predicates": predicates}[step]()
