"""A plug-in that misbehaves as the answer of each item says. Arguments: a file that is told of every item, and a version."""

import json
import os
import subprocess
import sys
import time

told, version = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1"


def say(value):
    print(json.dumps(value), flush=True)


def scores(value, **more):
    return {"scores": [{"metric": "size", "value": value, **more}]}


def answer(item):
    word = item["answer"].split()[0]
    if word == "hang":
        time.sleep(3600)
    elif word == "crash":
        print("about to crash", file=sys.stderr, flush=True)
        os._exit(3)
    elif word == "other":
        say({"id": "nobody", **scores(1.0)})
    elif word == "silent":
        pass
    elif word == "nan":
        say({"id": item["id"], **scores(float("nan"))})
    elif word == "text":
        say({"id": item["id"], **scores("high")})
    elif word == "long":
        print("x" * (3 << 20), flush=True)
    elif word == "endless":
        while True:
            print("spam")
    elif word == "parent":
        child = subprocess.Popen(["sleep", "3600"])
        say({"id": item["id"], **scores(1.0, label=f"{os.getpid()} {child.pid}")})
    elif word == "environment":
        say({"id": item["id"], **scores(1.0, rationale=" ".join(sorted(os.environ)))})
    elif word == "inputs":
        say({"id": item["id"], **scores(1.0, rationale=" ".join(sorted(item)))})
    else:
        if word == "garbage":
            print("Loading the model ...\n\n{\n[1, 2]\n\"x\"\n{}", flush=True)
        if word == "stderr":
            sys.stderr.write("a line of a log\n" * 30_000 + "x" * (1 << 20))
            sys.stderr.flush()
        say({"id": item["id"], **scores(1.0)})
        if word == "twice":
            say({"id": item["id"], **scores(0.0)})


print("a greeting that is no answer", flush=True)
for line in sys.stdin:
    item = json.loads(line)
    if item.get("type") == "describe":
        metrics = [{"name": "size", "threshold": 0.5}]
        described = {"protocol": 1, "name": "scripted", "version": version, "inputs": ["answer"], "metrics": metrics}
        if version == "wrong":
            described["protocol"] = 2
        say({"type": "description", **described})
        continue
    with open(told, "a") as file:
        file.write(f"{os.getpid()} {item['answer']}\n")
    answer(item)
