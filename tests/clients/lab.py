"""What a user's script does with the client of the lab. Arguments: what to do, the address, the file that counts the calls."""

import asyncio
import os
import sys
import threading

from groundline_lab import Lab, LabError

what, url, log = sys.argv[1:4]
die_after = int(sys.argv[4]) if len(sys.argv) > 4 else 0
lab = Lab(url)
lock = threading.Lock()
calls = 0


def answer(question, attempt):
    global calls
    with lock:
        calls += 1
        with open(log, "a") as file:
            file.write(f"{question}\n")
        if calls == die_after:
            os._exit(9)
    number = int(question.split()[1].rstrip("?"))
    if number == 3 and attempt == 1:
        raise ValueError("nobody knows 3")
    known = {"in_tokens": 3, "cost_usd": 0.001, "duration": 0.25, "finish_reason": "stop"}
    return {"output": f"answer number {number}", "contexts": ["a book"], **known}


def exact(output, expected):
    return output == expected


async def level(output, metadata):
    await asyncio.sleep(0)
    return {"value": metadata["level"], "label": "low", "rationale": output}


def broken(output):
    return 1 / (len(output) - len(output))


def refused(message, call):
    try:
        call()
    except (LabError, TypeError, ValueError) as error:
        assert message in str(error), f"{error!r} does not say {message!r}"
    else:
        raise AssertionError(f"{message!r} was not refused")


scores = [exact, level, broken]
if what == "run":
    experiment = lab.experiment("v1", dataset="d", evaluators=["rouge", *scores], target={"commit": "abc"})
    print(experiment.run(answer, concurrency=8))
elif what == "retry":
    told = lab.open("v1", scores).run(answer, retry="errors")
    assert told["summary"]["errors"] == 0 and told.metric("exact")["passed"]["estimate"] == 1.0, told
    print(told)
elif what == "local":

    async def upper(text):
        await asyncio.sleep(0)
        return text.upper()

    items = [{"input": "a", "expected": "A"}, "b", "b", {"input": {"text": "c"}}]
    first = lab.experiment("local", data=items, evaluators=[exact])
    told = first.run(upper)
    print(told)
    # An object has no upper(): an error of that run alone. Without an expected answer there is no score.
    assert (told["summary"]["done"], told["summary"]["errors"]) == (4, 1), told
    metric = told.metric("exact")
    assert (metric["scores"], metric["skipped"]) == (1, 2), metric
    first.mark_baseline()
    # What is finished is not gone on with; what costs too much stops, and goes on.
    capped = {"data": items, "evaluators": [exact], "parameters": {"p": 1}}
    second = lab.experiment("local", **capped)
    assert second.experiment_id != first.experiment_id
    told = second.run(lambda input: {"output": "A", "cost_usd": 1.0}, concurrency=1, max_cost=2.0)
    assert (told["experiment"]["status"], told["summary"]["done"]) == ("paused", 2), told
    again = lab.experiment("local", **capped)
    assert again.experiment_id == second.experiment_id
    assert again.run(lambda input: "A")["summary"]["done"] == 4
    compared = again.compare()
    assert compared["baseline"]["experiment_id"] == first.experiment_id
    print(compared)
elif what == "faults":
    refused("is no address", lambda: Lab("localhost:1"))
    refused("give dataset or data", lambda: lab.experiment("x"))
    refused("evaluators: ", lambda: lab.experiment("x", dataset="d", evaluators=["nothing"]))
    refused('no dataset "nobody"', lambda: lab.experiment("x", dataset="nobody"))
    refused("two scores have one name", lambda: lab.experiment("x", dataset="d", evaluators=[exact, exact]))
    experiment = lab.experiment("x", dataset="d")
    refused("there is no oracle", lambda: experiment.run(lambda question, oracle: None))
    refused("it may be 1 to 256", lambda: experiment.run(answer, concurrency=0))
    experiment.cancel()
    refused("was cancelled", lambda: experiment.run(answer))
    refused("the token is not known", lambda: Lab(url, token="wrong").open("x"))
else:
    raise SystemExit(f"there is nothing called {what}")
