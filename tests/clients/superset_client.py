"""Apache Superset over the PostgreSQL port, by its own API: superset_client.py PORT

A database, the columns of tables and views, charts with every time grain that its editor offers, filters, SQL Lab, and a dataset
of a query. Superset keeps its own state in $SUPERSET_HOME, which must be empty.
"""
import contextlib
import os
import pathlib
import subprocess
import sys

HOME = pathlib.Path(os.environ["SUPERSET_HOME"])
CONFIG = HOME / "superset_config.py"
CONFIG.write_text(
    f"SECRET_KEY = 'a key of this test, which is of no use elsewhere'\n"
    f"SQLALCHEMY_DATABASE_URI = 'sqlite:///{HOME}/superset.db'\n"
    "WTF_CSRF_ENABLED = False\nTALISMAN_ENABLED = False\n"
)
os.environ.update(SUPERSET_CONFIG_PATH=str(CONFIG), FLASK_APP="superset.app:create_app")
subprocess.run([pathlib.Path(sys.executable).with_name("superset"), "db", "upgrade"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

import psycopg2  # noqa: E402
from superset.app import create_app  # noqa: E402

URI = f"postgresql+psycopg2://me@127.0.0.1:{sys.argv[1]}/groundline?sslmode=disable"
app = create_app()
with app.app_context():
    from superset import appbuilder, security_manager

    appbuilder.add_permissions(update_perms=True)
    security_manager.sync_role_definitions()
    security_manager.add_user("me", "A", "B", "me@example.org", security_manager.find_role("Admin"), password="pw")
client = app.test_client()
login = {"username": "me", "password": "pw", "provider": "db", "refresh": False}
HEADERS = {"Authorization": "Bearer " + client.post("/api/v1/security/login", json=login).json["access_token"]}


checks_made = 0


def check(what, is_so):
    global checks_made
    checks_made += 1
    if not is_so:
        raise AssertionError(what)


@contextlib.contextmanager
def shows(aspect, by):
    """Says that Superset has `aspect`, `by` the words of the table, once the checks within have passed. Without a check it fails."""
    before = checks_made
    yield
    check(f"{aspect}: {by}: nothing was checked", checks_made > before)
    print(f"has {aspect}: {by}")


def call(verb, path, body=None):
    answer = getattr(client, verb)(f"/api/v1{path}", headers=HEADERS, json=body)
    check(f"{verb} {path}: {answer.status_code} {answer.get_data(as_text=True)[:2000]}", answer.status_code < 300)
    return answer.json


def truth(sql):
    with psycopg2.connect(f"host=127.0.0.1 port={sys.argv[1]} user=me dbname=groundline sslmode=disable") as connection:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


call("post", "/database/test_connection/", {"sqlalchemy_uri": URI, "database_name": "groundline", "impersonate_user": False})
database = call("post", "/database/", {"sqlalchemy_uri": URI, "database_name": "groundline", "expose_in_sqllab": True})["id"]
check("schemas", "public" in call("get", f"/database/{database}/schemas/")["result"])
tables = {row["value"]: row["type"] for row in call("get", f"/database/{database}/tables/?q=(schema_name:public)")["result"]}
check("tables and views", (tables["spans"], tables["traces"]) == ("table", "view"))
about = call("get", f"/database/{database}/table_metadata/?name=scores&schema=public")
check("comments", any(column["comment"] == "The metric." for column in about["columns"]))
print("a database: ok")


def dataset(body):
    """The number of a dataset whose columns were read from the server."""
    number = call("post", "/dataset/", {"database": database, **body})["id"]
    call("put", f"/dataset/{number}/refresh")
    columns = call("get", f"/dataset/{number}")["result"]["columns"]
    return number, {column["column_name"]: (column["type"], column["is_dttm"]) for column in columns}


def rows(number, **query):
    body = {"datasource": {"id": number, "type": "table"}, "queries": [{"metrics": [COUNT], "row_limit": 1000, **query}], "force": True}
    [result] = call("post", "/chart/data", body)["result"]
    check(f"{result.get('error')}: {result.get('query')}", not result.get("error"))
    return result["data"]


COUNT = {"expressionType": "SQL", "sqlExpression": "COUNT(*)", "label": "n"}
# Second to year, as the time grains of a chart are named for PostgreSQL.
GRAINS = ["PT1S", "PT5S", "PT30S", "PT1M", "PT5M", "PT10M", "PT15M", "PT30M", "PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y"]
for table, time, number_column, by in [
    ("spans", "start_time", "duration_ns", "service_name"),
    ("traces", "start_time", "duration_ns", "service_name"),
    ("scores", "evaluated_at", "value", "metric"),
]:
    number, columns = dataset({"schema": "public", "table_name": table})
    wanted = truth(f"SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '{table}'")
    with shows("metadata", "columns of tables" if tables[table] == "table" else "views"):
        check("columns", set(columns) == {name for (name,) in wanted})
        check("a time", columns[time] == ("TIMESTAMP WITH TIME ZONE", True) and columns[by] == ("TEXT", False))
    [(total,)] = truth(f"SELECT count(*) FROM {table}")
    check("groups", sum(row["n"] for row in rows(number, columns=[by])) == total and total > 0)
    mean = {"expressionType": "SIMPLE", "column": {"column_name": number_column}, "aggregate": "AVG", "label": "mean"}
    ids = {"expressionType": "SIMPLE", "column": {"column_name": "trace_id"}, "aggregate": "COUNT_DISTINCT", "label": "ids"}
    with shows("types", "every time grain"):
        for grain in GRAINS:
            axis = {"timeGrain": grain, "columnType": "BASE_AXIS", "sqlExpression": time, "label": time, "expressionType": "SQL"}
            range_ = [{"col": time, "op": "TEMPORAL_RANGE", "val": "2000-01-01 : 2100-01-01"}]
            series = dict(series_columns=[by], series_limit=3, orderby=[["n", False]])
            found = rows(number, columns=[axis, by], metrics=[COUNT, mean, ids], filters=range_, **series)
            check(f"{table} by {grain}", 0 < sum(row["n"] for row in found) <= total)
    value = truth(f"SELECT {by} FROM {table} WHERE {by} IS NOT NULL LIMIT 1")[0][0]
    filters = [{"col": by, "op": "IN", "val": [value, "nobody"]}, {"col": by, "op": "ILIKE", "val": f"%{value[1:]}"}]
    [row] = rows(number, columns=[by], filters=filters, extras={"having": "COUNT(*) > 0", "where": "1 = 1"})
    check("a filter", (row[by], row["n"]) == (value, truth(f"SELECT count(*) FROM {table} WHERE {by} = '{value}'")[0][0]))
    check("rows", len(rows(number, columns=["trace_id", time], metrics=[], orderby=[[time, False]])) == min(total, 1000))
    check("values of a filter", value in call("get", f"/datasource/table/{number}/column/{by}/values/")["result"])
    chart = {"slice_name": table, "viz_type": "table", "datasource_id": number, "datasource_type": "table", "params": "{}"}
    check("a chart", call("post", "/chart/", chart)["id"])
    print(f"{table}: ok")

query = "SELECT metric, passed, quality_rate(passed, inclusion_probability) AS rate, date_trunc('hour', evaluated_at) AS hour FROM scores GROUP BY 1, 2, 4"
number, columns = dataset({"table_name": "rates", "sql": query})
with shows("metadata", "queries"):
    check("the columns of a query", columns["hour"][1] and set(columns) == {"metric", "passed", "rate", "hour"})
check("a condition", rows(number, columns=["metric"], filters=[{"col": "passed", "op": "IS TRUE"}]))
lab = {"database_id": database, "sql": "SELECT metric, count(*) AS n FROM scores GROUP BY 1", "schema": "public", "runAsync": False, "client_id": "groundline1", "queryLimit": 100}
answer = call("post", "/sqllab/execute/", lab)
check("SQL Lab", answer["status"] == "success" and len(answer["data"]) > 0)
print("all ok")
