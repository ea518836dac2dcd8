"""Asks DuckDB and chdb over the Parquet files that standard input names, and prints the timings as JSON.

Input: {"files": [...], "traces": [...], "runs": n, "cases": [{"duckdb": sql, "chdb": sql}, ...]}. Both engines get two
threads, as ours does.
"""

import json
import sys
import time


def measure(ask, spelled, job):
    timings = []
    for spelling in spelled:
        times, rows, error = [], 0, None
        try:
            for run in range(job["runs"] + 1):
                sql = spelling.replace("{trace}", job["traces"][run % len(job["traces"])])
                started = time.perf_counter()
                found = ask(sql)
                times.append((time.perf_counter() - started) * 1000)
                if run == 0:
                    rows = found
        except Exception as failed:
            error = str(failed).splitlines()[0][:300]
        timings.append({"times": times, "rows": rows, "error": error})
    return timings


def duckdb_engine(files):
    import duckdb

    db = duckdb.connect()
    db.execute("SET threads = 2")
    db.execute("SET enable_progress_bar = false")
    db.execute("SET parquet_metadata_cache = true")
    listed = ", ".join("'" + file + "'" for file in files)
    db.execute(f"CREATE VIEW spans AS SELECT * FROM read_parquet([{listed}])")
    return "DuckDB " + duckdb.__version__, lambda sql: len(db.execute(sql).fetchall())


def chdb_engine(files):
    import os.path

    import chdb
    from chdb import session

    db = session.Session()
    # The folder also has files that were merged into others.
    names = ",".join(os.path.basename(file) for file in files)
    pattern = os.path.join(os.path.dirname(files[0]), "{" + names + "}" if len(files) > 1 else names)

    def ask(sql):
        sql = sql.replace("FROM spans", f"FROM file('{pattern}', Parquet)")
        answer = db.query(sql + " SETTINGS max_threads = 2", "TabSeparated")
        return len(str(answer).splitlines())

    return "chdb " + chdb.__version__, ask


def main():
    job = json.load(sys.stdin)
    peers = []
    for key, engine in (("duckdb", duckdb_engine), ("chdb", chdb_engine)):
        try:
            name, ask = engine(job["files"])
        except Exception as failed:
            print(f"{key}: {failed}", file=sys.stderr)
            continue
        peers.append({"name": name, "timings": measure(ask, [case[key] for case in job["cases"]], job)})
    json.dump(peers, sys.stdout)


main()
