"""Clients of the PostgreSQL port, as their users call them: clients.py CLIENT PORT

Each function is one client. It reads metadata, sends parameters, checks types, reads a large result, cancels a query and meets
an error, as far as the client has that. What it says that a client has is what `shows` held: the table of the documentation is
compared with that, word by word. The rows are those of tests/slt.
"""
import asyncio
import contextlib
import datetime
import decimal
import io
import sys
import threading
import time

port = int(sys.argv[2])
DSN = f"host=127.0.0.1 port={port} user=me dbname=groundline sslmode=disable"
URL = f"me@127.0.0.1:{port}/groundline?sslmode=disable"
ENDLESS = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b"
LARGE = "SELECT value AS n, 'row ' || value AS text FROM generate_series(1, 100000)"
TYPED = "SELECT name, start_time, duration_ns, cost_usd, finish_reasons FROM spans WHERE finish_reasons IS NOT NULL LIMIT 1"
checks_made = 0


def check(what, is_so):
    global checks_made
    checks_made += 1
    if not is_so:
        raise AssertionError(what)


@contextlib.contextmanager
def shows(aspect, by="yes"):
    """Says that the client has `aspect`, `by` the words of the table, once the checks within have passed. Without a check it fails."""
    before = checks_made
    yield
    if checks_made == before:
        raise AssertionError(f"{aspect}: {by}: nothing was checked")
    print(f"has {aspect}: {by}")


def fails(error, call):
    try:
        call()
    except error as why:
        check(f"an error: {why}", True)
        return why
    raise AssertionError("no error")


def cancelled(cancel, error, run):
    """Cancels a query from another thread: it ends within a second of the first request in the best of ten tries, on a busy machine."""
    taken = []
    while len(taken) < 10 and not any(each < 1 for each in taken):
        taken.append(cancelled_once(cancel, error, run))
    check(f"cancelled after {taken} seconds, never within one", taken[-1] < 1)


def cancelled_once(cancel, error, run):
    ended, requests = threading.Event(), []

    def again():
        # Until the query runs there is nothing to cancel, and the request is lost.
        while not ended.wait(0.05):
            requests.append(time.monotonic())
            cancel()

    asking = threading.Thread(target=again)
    asking.start()
    try:
        why = fails(error, run)
        end = time.monotonic()
    finally:
        ended.set()
        asking.join()
    check(f"cancelled: {why}", "cancel" in str(why).lower())
    return end - requests[0]


def psycopg2():
    import psycopg2
    from psycopg2 import errors

    connection = psycopg2.connect(DSN)
    check("version", connection.server_version == 160000)
    cursor = connection.cursor()
    with shows("parameters"):
        cursor.execute("SELECT count(*) FROM spans WHERE name <> %s AND duration_ns > %s", ("none", -1))
        check("parameters", cursor.fetchone()[0] > 0)
    cursor.execute(TYPED)
    name, start, duration, _, reasons = cursor.fetchone()
    with shows("types", "times"):
        check("types", (type(name), type(start), type(duration)) == (str, datetime.datetime, int))
    with shows("types", "lists"):
        check("lists", isinstance(reasons, list))
    with shows("metadata", "columns"):
        check("names", [column.name for column in cursor.description][:2] == ["name", "start_time"])
        check("types of columns", [column.type_code for column in cursor.description][:3] == [25, 1184, 20])
    with shows("errors", "classes"):
        fails(errors.UndefinedTable, lambda: cursor.execute("SELECT * FROM nope"))
        fails(errors.InFailedSqlTransaction, lambda: cursor.execute("SELECT 1"))
        connection.rollback()
        fails(errors.UndefinedColumn, lambda: cursor.execute("SELECT nope FROM spans"))
        connection.rollback()
        fails(errors.SyntaxError, lambda: cursor.execute("SELEC 1"))
        connection.rollback()
        fails(errors.ReadOnlySqlTransaction, lambda: cursor.execute("DELETE FROM spans"))
        connection.rollback()
    with shows("large", "named cursors"), connection.cursor("large") as large:
        large.itersize = 1000
        large.execute(LARGE)
        check("a cursor of the server", sum(row[0] for row in large) == 100000 * 100001 // 2)
    connection.commit()
    with shows("large", "COPY"):
        out = io.StringIO()
        cursor.copy_expert(f"COPY ({LARGE}) TO STDOUT WITH CSV HEADER", out)
        header, *lines = out.getvalue().splitlines()  # no ORDER BY: any order is right
        check("COPY", header == "n,text" and set(lines) == {f"{n},row {n}" for n in range(1, 100001)} and len(lines) == 100000)
    fails(psycopg2.Error, lambda: cursor.copy_expert("COPY spans FROM STDIN", io.StringIO("x")))
    connection.rollback()

    def endless():
        connection.rollback()
        cursor.execute(ENDLESS)

    with shows("cancel", "`cancel`"):
        cancelled(connection.cancel, errors.QueryCanceled, endless)
    connection.rollback()
    connection.set_session(readonly=True, autocommit=True)
    cursor.execute("SELECT 1")
    connection.close()


def psycopg():
    import psycopg
    from psycopg import errors

    with psycopg.connect(DSN) as connection:
        found = connection.execute("SELECT count(*) FROM spans WHERE name <> %s AND duration_ns > %s", ("none", -1))
        check("parameters", found.fetchone()[0] > 0)
        with shows("parameters", "lists"):
            found = connection.execute("SELECT name FROM spans WHERE name = ANY(%s)", (["agent", "none"],))
            check("lists as parameters", found.fetchone() == ("agent",))
        with shows("parameters", "pipelines"):
            with connection.pipeline():
                answers = [connection.execute("SELECT %s::int", (n,)) for n in range(5)]
            check("a pipeline", [a.fetchone()[0] for a in answers] == list(range(5)))
        for is_binary, form in ((False, "text"), (True, "binary")):
            with shows("types", form), connection.cursor(binary=is_binary) as cursor:
                name, start, duration, _, reasons = cursor.execute(TYPED).fetchone()
                check("types", (type(name), type(start), type(duration)) == (str, datetime.datetime, int))
                check("lists", isinstance(reasons, list))
        with shows("large", "server-side cursors"), connection.cursor("large") as large:
            large.execute("SELECT value FROM generate_series(1, 100000) WHERE value > %s ORDER BY 1", (10,))
            check("a part", [row[0] for row in large.fetchmany(3)] == [11, 12, 13])
            large.scroll(7)
            check("behind what was passed over", large.fetchone()[0] == 21)
            check("the rest", len(large.fetchall()) == 99979)
        with connection.cursor() as cursor:
            with shows("large", "COPY in binary"), cursor.copy(f"COPY ({LARGE}) TO STDOUT (FORMAT BINARY)") as copy:
                copy.set_types(["int8", "text"])
                check("COPY", sum(row[0] for row in copy.rows()) == 100000 * 100001 // 2)
            with cursor.copy("COPY (SELECT 1, NULL, E'a\\tb') TO STDOUT") as copy:
                check("COPY as text", list(copy.rows()) == [("1", None, "a\tb")])
        with shows("metadata", "columns"):
            described = connection.execute(TYPED).description
            check("types of columns", [(c.name, c.type_code) for c in described][:2] == [("name", 25), ("start_time", 1184)])
        with shows("metadata", "`TypeInfo`"):
            check("a type of the catalogue", psycopg.types.TypeInfo.fetch(connection, "timestamptz").oid == 1184)
        with shows("errors", "classes"):
            why = fails(errors.UndefinedFunction, lambda: connection.execute("SELECT nope(1)"))
        with shows("errors", "hints"):
            check("a hint", why.diag.message_hint)

        def endless():
            connection.rollback()
            connection.execute(ENDLESS)

        with shows("cancel", "`cancel`"):
            cancelled(connection.cancel, errors.QueryCanceled, endless)


# Lists that asyncpg reads in binary, once it has asked what they consist of.
LISTS_ASYNCPG = [
    ("ARRAY[1::int2, NULL]", [1, None]),
    ("ARRAY[1::int4, -2]", [1, -2]),
    ("ARRAY[1::int8, NULL]", [1, None]),
    ("ARRAY[1.5::float4, NULL]", [1.5, None]),
    ("ARRAY[0.1::float8, NULL]", [0.1, None]),
    ("ARRAY[true, false, NULL]", [True, False, None]),
    ("ARRAY[1.25::numeric(10,2), NULL]", [decimal.Decimal("1.25"), None]),
    ("ARRAY['2026-01-02'::date, NULL]", [datetime.date(2026, 1, 2), None]),
    ("ARRAY['10:30:00'::time, NULL]", [datetime.time(10, 30), None]),
    ("ARRAY['2026-01-02 03:04:05.123456'::timestamp, NULL]", [datetime.datetime(2026, 1, 2, 3, 4, 5, 123456), None]),
    ("ARRAY[INTERVAL '1 day 2 hours', NULL]", [datetime.timedelta(days=1, hours=2), None]),
    ("array_agg(X'00ff')", [b"\x00\xff"]),
    ("array_agg(arrow_cast(-5, 'Int8'))", [-5]),
    ("array_agg(arrow_cast(5, 'UInt64'))", [5]),
    ("ARRAY['a', NULL]", ["a", None]),
    ("ARRAY[]::int4[]", []),
]


def asyncpg():
    import asyncpg

    async def timed_out(connection):
        """A query ends within a second of the time that it may take, in the best of ten tries."""
        taken = []
        while len(taken) < 10 and not any(each < 1.5 for each in taken):
            began = time.monotonic()
            try:
                await connection.fetch(ENDLESS, timeout=0.5)
                check("cancelled", False)
            except asyncio.TimeoutError:
                taken.append(time.monotonic() - began)
        check(f"cancelled after {taken} seconds, never within one of the timeout", taken[-1] < 1.5)
        check("after it", await connection.fetchval("SELECT 41 + 1") == 42)

    async def run():
        connection = await asyncpg.connect(host="127.0.0.1", port=port, user="me", database="groundline", ssl=False)
        check("version", connection.get_server_version()[:2] == (16, 0))
        with shows("types", "times"):
            row = await connection.fetchrow(TYPED)
            check("times", isinstance(row["start_time"], datetime.datetime))
        with shows("types", "lists"):
            check("lists", isinstance(row["finish_reasons"], list))
            for query, wanted in LISTS_ASYNCPG:
                found = await connection.fetchval(f"SELECT {query}")
                check(f"{query}: {found!r}", found == wanted and list(map(type, found)) == list(map(type, wanted)))
            times = await connection.fetchval("SELECT array_agg(start_time) FROM spans")
            check(f"times: {times!r}", times and all(each.tzinfo is not None for each in times))
        with shows("metadata", "prepared statements"):
            prepared = await connection.prepare("SELECT name, duration_ns FROM spans WHERE name <> $1 AND start_time > $2")
            check("columns", [(a.name, a.type.name) for a in prepared.get_attributes()] == [("name", "text"), ("duration_ns", "int8")])
            check("types of parameters", [p.name for p in prepared.get_parameters()] == ["text", "timestamptz"])
        with shows("parameters"):
            check("one", await connection.fetchval("SELECT count(*) FROM spans WHERE name <> $1", "none") > 0)
            check("a number of rows", len(await connection.fetch("SELECT name FROM spans LIMIT $1 OFFSET $2", 1, 1)) == 1)
            since = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
            check("two", await prepared.fetch("none", since))
            for kind, sent in (("int8", [1, None, -2]), ("float8", [0.5]), ("bool", [True, False]), ("text", ["a", None])):
                found = await connection.fetchval(f"SELECT $1::{kind}[]", sent)
                check(f"a list of {kind}: {found!r}", found == sent)
        check("large", len(await connection.fetch(LARGE)) == 100000)
        with shows("large", "cursors"):
            async with connection.transaction(readonly=True):
                n = 0
                async for _ in connection.cursor(LARGE, prefetch=1000):
                    n += 1
                cursor = await connection.cursor(LARGE)
                check("rows are passed over", await cursor.forward(10) == 10)
                check("the rest", len(await cursor.fetch(100000)) == 99990)
            check("a cursor", n == 100000)
        with shows("large", "COPY"):
            check("COPY", await connection.copy_from_query(LARGE, output=io.BytesIO(), format="csv") == "COPY 100000")
        with shows("errors", "classes"):
            try:
                await connection.fetch("SELECT * FROM nope")
                why = None
            except asyncpg.PostgresError as error:
                why = error
            check(f"an error: {why!r}", isinstance(why, asyncpg.UndefinedTableError))
        with shows("cancel", "timeouts"):
            await timed_out(connection)
        await connection.reset()
        await connection.close()

    asyncio.run(run())


def inspected(connection):
    import sqlalchemy as sa

    found = sa.inspect(connection)
    check("schemas", "public" in found.get_schema_names())
    check("tables", {"spans", "scores"} <= set(found.get_table_names()))
    check("views", {"traces", "quality_hourly"} <= set(found.get_view_names()))
    columns = {column["name"]: column for column in found.get_columns("scores")}
    check("comments", columns["metric"]["comment"] == "The metric.")
    check("nullable", not columns["metric"]["nullable"] and columns["value"]["nullable"])
    check("a comment on a table", found.get_table_comment("spans")["text"].startswith("One row a span"))
    check("keys", found.get_pk_constraint("scores")["constrained_columns"] == [])
    check("none", not found.get_foreign_keys("scores"))
    check("no index", connection.dialect.driver == "asyncpg" or not found.get_indexes("scores"))
    check("none", not found.get_unique_constraints("scores") and not found.get_check_constraints("scores"))
    check("a view", "SELECT" in found.get_view_definition("traces").upper())
    check("there", found.has_table("spans") and not found.has_table("nope"))


def types_inspected(connection):
    import sqlalchemy as sa

    columns = {column["name"]: column["type"] for column in sa.inspect(connection).get_columns("scores")}
    check("types", isinstance(columns["passed"], sa.Boolean) and isinstance(columns["value"], sa.Float))


def reflected(connection):
    import sqlalchemy as sa

    metadata = sa.MetaData()
    metadata.reflect(connection, views=True)
    spans = metadata.tables["spans"]
    query = sa.select(spans.c.operation, sa.func.count()).where(spans.c.name != "none").group_by(spans.c.operation)
    check("a query", connection.execute(query).all())


def sqlalchemy():
    import sqlalchemy as sa
    from sqlalchemy.ext.asyncio import create_async_engine

    engines = {name: sa.create_engine(f"postgresql+{name}://{URL}") for name in ("psycopg2", "psycopg")}

    async def awaited(call):
        engine = create_async_engine(f"postgresql+asyncpg://{URL.split('?')[0]}?ssl=disable")
        async with engine.connect() as connection:
            await connection.run_sync(call)
        await engine.dispose()

    def over_each(call):
        """The same over every driver; asyncpg has no connection that does not wait, so it gets `call` by `run_sync`."""
        for engine in engines.values():
            with engine.connect() as connection:
                call(connection)
        if call is not reflected:
            asyncio.run(awaited(call))

    def asked(connection):
        found = connection.execute(sa.text("SELECT count(*) FROM spans WHERE name <> :name"), {"name": "none"})
        check("parameters", found.scalar() > 0)

    def streamed(connection):
        rows = connection.execution_options(stream_results=True).execute(sa.text(LARGE))
        check("a stream", sum(1 for _ in rows) == 100000)

    def refused(connection):
        why = fails(sa.exc.ProgrammingError, lambda: connection.execute(sa.text("SELECT * FROM nope")))
        check(f"a word of it: {why}", "nope" in str(why))
        connection.rollback()
        check("after it", connection.execute(sa.text("SELECT 41 + 1")).scalar() == 42)

    for aspect, by, call in (
        ("metadata", "inspector", inspected),
        ("metadata", "reflection but for asyncpg", reflected),
        ("types", "of tables", types_inspected),
        ("parameters", "yes", asked),
        ("large", "streamed results", streamed),
        ("errors", "yes", refused),
    ):
        with shows(aspect, by):
            over_each(call)
    for name, engine in engines.items():
        with shows("cancel", f"`cancel` of {name}"), engine.connect() as connection:

            def endless():
                connection.rollback()
                connection.execute(sa.text(ENDLESS))

            cancelled(connection.connection.driver_connection.cancel, sa.exc.OperationalError, endless)


def pandas():
    import pandas as pd
    import sqlalchemy as sa

    engine = sa.create_engine(f"postgresql+psycopg2://{URL}")
    with shows("parameters"):
        query = "SELECT name, start_time, duration_ns, cost_usd FROM spans WHERE name <> %(n)s"
        frame = pd.read_sql(query, engine, params={"n": "none"})
        check("rows", len(frame) > 0)
    with shows("types", "times"):
        check("types", str(frame.dtypes["start_time"]).startswith("datetime64") and frame.dtypes["duration_ns"] == "int64")
    with shows("metadata", "`read_sql_table`"):
        check("a table", len(pd.read_sql_table("scores", engine)) > 0)
        check("a table is there", pd.io.sql.has_table("scores", engine) and not pd.io.sql.has_table("nope", engine))
    with shows("large", "chunks"):
        check("large", sum(len(part) for part in pd.read_sql(LARGE, engine, chunksize=10000)) == 100000)
    with shows("errors"):
        fails(pd.errors.DatabaseError, lambda: pd.read_sql("SELECT nope FROM spans", engine))
    with shows("cancel", "`cancel` of the driver"), engine.connect() as connection:
        driver = connection.connection.driver_connection

        def endless():
            connection.rollback()
            pd.read_sql(sa.text(ENDLESS), connection)

        cancelled(driver.cancel, pd.errors.DatabaseError, endless)


def polars():
    import polars as pl
    import psycopg2

    def read(query, engine):
        return pl.read_database_uri(query, f"postgresql://{URL}", engine=engine)

    engines = ("connectorx", "adbc")
    with shows("types", "times"):
        for engine in engines:
            schema = read(TYPED.replace(", finish_reasons FROM", " FROM"), engine).schema
            check("types", schema["duration_ns"] == pl.Int64 and isinstance(schema["start_time"], pl.Datetime))
    with shows("large"):
        for engine in engines:
            large = read(LARGE, engine)
            check("large", (large.height, large["n"].sum()) == (100000, 100000 * 100001 // 2))
    with shows("errors"):
        for engine in engines:
            why = fails(Exception, lambda: read("SELECT nope FROM spans", engine))
            check(f"an error: {why}", "nope" in str(why))
    with shows("parameters", "ADBC"):
        query, value = "SELECT count(*) AS n FROM spans WHERE name <> $1", {"parameters": ("none",)}
        counted = pl.read_database_uri(query, f"postgresql://{URL}", engine="adbc", execute_options=value)
        check("parameters", counted["n"][0] > 0)
    connection = psycopg2.connect(DSN)

    def endless():
        connection.rollback()
        pl.read_database(ENDLESS, connection)

    with shows("cancel", "`cancel` of a connection"):
        cancelled(connection.cancel, Exception, endless)
    connection.close()


def connectorx():
    import connectorx as cx

    for protocol in ("binary", "csv", "cursor", "simple"):
        with shows("large", protocol):
            table = cx.read_sql(f"postgresql://{URL}", LARGE, protocol=protocol, return_type="arrow")
            check(protocol, table.num_rows == 100000)
    with shows("large", "partitions"):
        parts = cx.read_sql(f"postgresql://{URL}", LARGE, partition_on="n", partition_num=3, return_type="arrow")
        check("parts", parts.num_rows == 100000)
    with shows("metadata", "`get_meta`"):
        header = cx.get_meta(f"postgresql://{URL}", "SELECT name, duration_ns FROM spans")
        check("columns", list(header.columns) == ["name", "duration_ns"] and str(header.dtypes["duration_ns"]).lower() == "int64")
    with shows("types", "times"):
        typed = cx.read_sql(f"postgresql://{URL}", TYPED.replace(", finish_reasons FROM", " FROM"), return_type="arrow").schema
        check("types", [str(typed.field(n).type) for n in ("duration_ns", "cost_usd")] == ["int64", "double"])
        check(f"times: {typed}", str(typed.field("start_time").type).startswith("timestamp"))
    with shows("errors"):
        why = fails(RuntimeError, lambda: cx.read_sql(f"postgresql://{URL}", "SELECT nope FROM spans", return_type="arrow"))
        check(f"an error: {why}", "nope" in str(why))


def adbc():
    import adbc_driver_postgresql.dbapi as dbapi
    import pyarrow as pa

    with dbapi.connect(f"postgresql://{URL}") as connection, connection.cursor() as cursor:
        cursor.execute(TYPED)
        schema = cursor.fetch_arrow_table().schema
        with shows("types", "times"):
            check("types", schema.field("duration_ns").type == pa.int64() and pa.types.is_timestamp(schema.field("start_time").type))
        with shows("types", "lists"):
            check("lists", pa.types.is_list(schema.field("finish_reasons").type))
        with shows("parameters"):
            cursor.execute("SELECT count(*) FROM spans WHERE name <> $1", ("none",))
            check("parameters", cursor.fetchone()[0] > 0)
        with shows("large", "COPY"):  # the driver asks for every result by it
            cursor.execute(LARGE)
            check("large", cursor.fetch_arrow_table().num_rows == 100000)
        with shows("metadata", "objects"):
            found = connection.adbc_get_objects(depth="columns", db_schema_filter="public").read_all().to_pylist()
            schemas = [schema for catalog in found for schema in catalog["catalog_db_schemas"] or []]
            tables = {table["table_name"]: table for schema in schemas for table in schema["db_schema_tables"] or []}
            check("tables", {"spans", "scores"} <= set(tables))
            check("columns", any(column["column_name"] == "metric" for column in tables["scores"]["table_columns"]))
        with shows("metadata", "schemas of tables"):
            check("a schema", connection.adbc_get_table_schema("scores").field("metric").type == pa.string())
        with shows("errors", "SQLSTATE"):
            why = fails(dbapi.ProgrammingError, lambda: cursor.execute("SELECT nope FROM spans"))
            check(f"its class: {why.sqlstate}", why.sqlstate == "42703")
    with dbapi.connect(f"postgresql://{URL}") as connection, connection.cursor() as cursor:

        def endless():
            connection.rollback()
            cursor.execute(ENDLESS)
            cursor.fetchall()

        with shows("cancel", "`adbc_cancel`"):
            cancelled(cursor.adbc_cancel, dbapi.Error, endless)


def pgcli():
    from psycopg import errors
    from pgcli.pgexecute import PGExecute
    from pgspecial.main import PGSpecial

    there = PGExecute("groundline", "me", "x", "127.0.0.1", port, None)
    with shows("metadata", "completion"):
        check("schemas", "public" in there.schemata())
        check("tables", ("public", "spans") in list(there.tables()))
        check("views", ("public", "traces") in list(there.views()))
        check("columns", any(row[:3] == ("public", "scores", "metric") for row in there.table_columns()))
        check("columns of views", any(row[:2] == ("public", "traces") for row in there.view_columns()))
        check("functions", any(function.func_name == "attr" for function in there.functions()))
        check("databases", there.databases() == ["groundline"])
        check("none", not list(there.foreignkeys()) and not list(there.datatypes()))
        list(there.casing())
        check("a view", "SELECT" in there.view_definition("traces"))
    with shows("metadata", "backslash commands"):
        for command in (r"\d", r"\d spans", r"\d+ spans", r"\dt+", r"\dv+", r"\df+", r"\dn+", r"\du+", r"\l+", r"\dT+", r"\dx", r"\dp",
                        r"\ddp", r"\di", r"\ds", r"\dm", r"\dE", r"\db+", r"\dD", r"\dF+", r"\d+ traces", "SELECT 1"):
            for _, rows, _, status, _, is_ok, *_ in there.run(command, PGSpecial()):
                check(f"{command}: {status}", is_ok)
                list(rows or [])
    with shows("large"):
        [(_, rows, *_)] = there.run(LARGE, PGSpecial())
        check("large", sum(1 for _ in rows) == 100000)
    with shows("types"):
        [(_, rows, headers, *_)] = there.run(TYPED, PGSpecial())
        [row] = rows
        check("types", headers[:2] == ["name", "start_time"] and isinstance(row[2], int) and isinstance(row[4], list))
    with shows("errors"):
        fails(errors.UndefinedColumn, lambda: list(there.run("SELECT nope FROM spans", PGSpecial())))
    with shows("cancel", "`cancel` of its connection"):
        cancelled(there.conn.cancel, errors.QueryCanceled, lambda: list(there.run(ENDLESS, PGSpecial())))


def duckdb():
    import glob
    import importlib.util
    import duckdb as duck

    folder = importlib.util.find_spec("duckdb_ext").submodule_search_locations[0]
    extension = glob.glob(f"{folder}/extensions/v{duck.__version__}/*/postgres_scanner.duckdb_extension")[0]
    connection = duck.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH '{DSN} password=x' AS g (TYPE postgres, READ_ONLY)")
    names = {row[2] for row in connection.execute("SHOW ALL TABLES").fetchall()}
    with shows("metadata", "tables"):
        check("tables", {"spans", "scores"} <= names)
    with shows("metadata", "views"):
        check("views", "traces" in names)
        check("a view", connection.execute("SELECT count(*) FROM g.traces").fetchone()[0] > 0)
    with shows("types", "times"):
        rows = connection.execute("SELECT name, start_time, duration_ns, finish_reasons FROM g.spans WHERE name <> 'none'").fetchall()
        check("types", isinstance(rows[0][1], datetime.datetime) and isinstance(rows[0][2], int))
    joined = "SELECT count(*) FROM g.scores JOIN g.spans USING (trace_id, span_id)"
    check("a join", connection.execute(joined).fetchone()[0] >= 0)
    with shows("large", "`postgres_query`"):
        large = f"SELECT count(*), sum(n) FROM postgres_query('g', '{LARGE.replace(chr(39), chr(39) * 2)}')"
        check("large", connection.execute(large).fetchone() == (100000, 100000 * 100001 // 2))
    with shows("parameters"):
        count = "SELECT count(*) FROM g.spans WHERE name <> ? AND duration_ns > ?"
        check("parameters", connection.execute(count, ["none", -1]).fetchone()[0] > 0)
    with shows("errors"):
        fails(duck.Error, lambda: connection.execute("SELECT * FROM postgres_query('g', 'SELECT nope FROM spans')"))


globals()[sys.argv[1]]()
print("ok")
