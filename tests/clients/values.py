"""Values of every type over the PostgreSQL port, by psycopg 3: values.py PORT

Each value goes as a parameter in text and in binary, with its type declared and without, and comes back in text and in binary. What
differs from the value is a fault, told with the way that it went.
"""
import datetime
import sys
import uuid
from decimal import Decimal

import psycopg
from psycopg.types.json import Json, Jsonb
from psycopg.types.numeric import Float4, Int2, Int4, Int8

UTC = datetime.timezone.utc
DAY, TIME = datetime.date(2026, 1, 31), datetime.time(23, 59, 58, 123456)
MOMENT = datetime.datetime(2026, 1, 31, 23, 59, 58, 123456)
UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"

# The type, the value as a program has it, what comes back, and the value as text. A list has no constant in quotes here.
VALUES = [
    ("bool", True, True, "t"),
    ("bool", False, False, "f"),
    ("int2", Int2(-32768), -32768, "-32768"),
    ("int4", Int4(2147483647), 2147483647, "2147483647"),
    ("int8", Int8(-9223372036854775808), -9223372036854775808, "-9223372036854775808"),
    ("float4", Float4(1.5), 1.5, "1.5"),
    ("float8", 0.1, 0.1, "0.1"),
    ("float8", float("inf"), float("inf"), "Infinity"),
    ("numeric", Decimal("12.50"), Decimal("12.50"), "12.50"),
    ("numeric", Decimal("-0.001"), Decimal("-0.001"), "-0.001"),
    ("text", "ä'\"\\ 😀", "ä'\"\\ 😀", "ä'\"\\ 😀"),
    ("text", "", "", ""),
    ("bytea", b"\x00\xff'\\", b"\x00\xff'\\", r"\x00ff275c"),
    ("date", DAY, DAY, "2026-01-31"),
    ("time", TIME, TIME, "23:59:58.123456"),
    ("timestamp", MOMENT, MOMENT, "2026-01-31 23:59:58.123456"),
    ("timestamptz", MOMENT.replace(tzinfo=UTC), MOMENT.replace(tzinfo=UTC), "2026-01-31 23:59:58.123456+00"),
    ("interval", datetime.timedelta(days=3, hours=2, microseconds=5), datetime.timedelta(days=3, hours=2, microseconds=5), "3 days 02:00:00.000005"),
    ("jsonb", Jsonb({"a": [1, None]}), {"a": [1, None]}, '{"a":[1,null]}'),
    ("json", Json({"a": [1, None]}), {"a": [1, None]}, '{"a":[1,null]}'),
    ("uuid", uuid.UUID(UUID), UUID, UUID),
    ("text[]", ["a", 'b,"c', None], ["a", 'b,"c', None], '{a,"b,\\"c",NULL}'),
    ("int4[]", [Int4(1), Int4(2)], [1, 2], "{1,2}"),
    ("int8[]", [Int8(1), Int8(2)], [1, 2], "{1,2}"),
    ("bool[]", [True, False], [True, False], "{t,f}"),
    ("float8[]", [0.5, 1.5], [0.5, 1.5], "{0.5,1.5}"),
]
faults = []


def same(kind, found, wanted):
    if kind.startswith("json") and isinstance(found, str):
        import json

        found = json.loads(found)
    return type(found) is type(wanted) and found == wanted


def tried(way, kind, wanted, connection, query, values, binary):
    try:
        found = connection.execute(query, values, binary=binary).fetchone()[0]
    except psycopg.Error as why:
        faults.append(f"{kind}, {way}: {why.diag.sqlstate} {why}".strip())
        connection.rollback()
        return
    if not same(kind, found, wanted):
        faults.append(f"{kind}, {way}: {found!r}, not {wanted!r}")


with psycopg.connect(f"host=127.0.0.1 port={sys.argv[1]} user=me dbname=groundline sslmode=disable") as connection:
    connection.execute("SET timezone TO 'UTC'")
    for kind, value, back, text in VALUES:
        literal = "'" + text.replace("'", "''") + "'"
        for result in (False, True):
            to = "binary" if result else "text"
            if not kind.endswith("[]"):
                tried(f"a constant as {to}", kind, back, connection, f"SELECT CAST({literal} AS {kind})", None, result)
        for form, sent, result in (("t", "in text", False), ("b", "in binary", True)):
            tried(f"declared, {sent}", kind, back, connection, f"SELECT CAST(%{form} AS {kind})", (value,), result)
            # psycopg declares no type for a list of texts in text.
            if (kind, form) != ("text[]", "t"):
                tried(f"declared, {sent}, without a cast", kind, back, connection, f"SELECT %{form}", (value,), result)
        if kind != "timestamptz":
            tried("undeclared", kind, back, connection, f"SELECT CAST(%t AS {kind})", (text,), True)
        tried("NULL", kind, None, connection, f"SELECT CAST(%t AS {kind})", (None,), True)
    found = connection.execute("SELECT %t, %t", (None, "x")).fetchone()
    if found != (None, "x"):
        faults.append(f"NULL before a value: {found}")
    # Against columns: what is not declared takes the type of the column.
    for column, value, text in [
        ("duration_ns", Int8(-1), "-1"),
        ("start_time", datetime.datetime(2000, 1, 1, tzinfo=UTC), "2000-01-01T00:00:00Z"),
        ("name", "", ""),
    ]:
        for form in ("t", "b"):
            query = f"SELECT count(*) > 0 FROM spans WHERE {column} > %{form}"
            tried(f"declared against {column}, {form}", "column", True, connection, query, (value,), True)
        tried(f"undeclared against {column}", "column", True, connection, f"SELECT count(*) > 0 FROM spans WHERE {column} > %t", (text,), True)

    # The type that a program declares counts where the engine would guess another.
    for form in ("t", "b"):
        for before, value in [(f"%{form}", datetime.timedelta(days=36500)), (f"%{form} * INTERVAL '1 day'", Int4(36500))]:
            query = f"SELECT count(*) > 0 FROM spans WHERE start_time > now() - {before}"
            tried(f"{before}, declared", "interval", True, connection, query, (value,), True)

print("\n".join(faults) if faults else "all ok")
sys.exit(1 if faults else 0)
