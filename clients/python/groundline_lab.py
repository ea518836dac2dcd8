"""Experiments of Groundline from a script: one file for Python 3.10 or later, without any other package. Copy it.

    from groundline_lab import Lab

    def answer(question):                       # your application
        return my_app(question)

    def is_short(output):                       # a score of your own: client/is_short
        return len(output) < 200

    experiment = Lab().experiment("v2", dataset="refunds", evaluators=["hallucination", is_short])
    print(experiment.run(answer, concurrency=8))
    print(experiment.compare("v1"))

A script that was stopped is started again: an unfinished experiment of the same name and definition goes on where it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import inspect
import json
import math
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

__all__ = ["Experiment", "Lab", "LabError", "Told"]

#: Runs that are looked up at once, the most that the server tells.
PAGE = 1_000
#: Answers that are sent at once, and how much they may weigh together, bytes.
BATCH, BATCH_BYTES = 16, 4 << 20
#: How often a request is sent that is answered "later" or not at all, and the longest wait between, seconds.
ATTEMPTS, MAX_WAIT = 10, 10.0
#: How long an answer waits for others that are sent with it, seconds.
LINGER = 1.0
#: Most calls of the function at once.
MAX_CONCURRENCY = 256
#: How long git may take to tell the commit, seconds; what it tells the programs of its hooks would name their repository.
GIT_PATIENCE = 10.0
OF_HOOKS = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"}
#: What an answer may have beside its output; a dict with other keys is an output itself.
ANSWER = {
    "output", "error", "contexts", "output_context", "in_tokens", "out_tokens", "input_tokens", "output_tokens",
    "cost_usd", "duration", "duration_ms", "finish_reason", "trace_id", "span_id",
}  # fmt: skip
#: What a score may be beside a number or a verdict.
SCORE = {"value", "label", "passed", "rationale", "error", "skipped"}
#: What a function may ask for, by the name of its parameter.
GIVEN = (
    "input", "contexts", "files", "parameters", "run_id", "item_id", "external_id", "repetition", "attempt", "traceparent",
)  # fmt: skip
#: What a score may ask for beside that.
JUDGED = ("output", "expected", "metadata", "answer")

Target = Callable[..., Any]
Evaluator = Union[str, Callable[..., Any]]


class LabError(Exception):
    """What the server refused, with its status; 0 if it was not reached."""

    def __init__(self, message: str, status: int = 0, faults: Sequence[Mapping[str, Any]] = ()) -> None:
        told = "; ".join(f"{fault.get('column', 'it')}: {fault.get('message')}" for fault in faults[:10])
        super().__init__(told or message)
        self.status = status
        self.faults = list(faults)


class Told(dict):  # type: ignore[type-arg]
    """What the server answered, as it came. Printed it is a table."""

    def __str__(self) -> str:
        return _summary(self) if "summary" in self else _comparison(self)

    def metric(self, name: str) -> dict[str, Any]:
        """The metric of that name, such as ``{"passed": {"estimate", "lower", "upper"}, "value": …}``; KeyError without it."""
        part = self.get("summary") or self["comparison"]
        for metric in part["metrics"]:
            if metric["metric"] == name:
                return dict(metric)
        raise KeyError(f"there is no metric {name!r}; there are {[metric['metric'] for metric in part['metrics']]}")


class Lab:
    """A server. The token needs the roles ``lab`` and ``query``; without one GROUNDLINE_TOKEN is taken."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:4320",
        token: Optional[str] = None,
        *,
        tenant: Optional[str] = None,
        timeout: float = 660.0,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        """``timeout`` bounds one request, seconds: judges of the server may take ten minutes by default."""
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is no address; it begins with http:// or https://")
        self.url = url.rstrip("/")
        self.tenant = tenant
        self.timeout = timeout
        self._token = token or os.environ.get("GROUNDLINE_TOKEN")
        handlers: list[Any] = [_NoRedirect()]
        if tls is not None:
            handlers.append(urllib.request.HTTPSHandler(context=tls))
        self._opener = urllib.request.build_opener(*handlers)

    def experiment(
        self,
        name: str,
        *,
        dataset: Optional[str] = None,
        data: Optional[Iterable[Any]] = None,
        evaluators: Sequence[Evaluator] = (),
        repetitions: int = 1,
        parameters: Optional[Mapping[str, Any]] = None,
        target: Optional[Mapping[str, Any]] = None,
        tags: Sequence[str] = (),
        baseline: bool = False,
        resume: bool = True,
    ) -> "Experiment":
        """An experiment over ``dataset`` ("NAME" or "NAME@VERSION"), or over ``data``: items as dicts, or what is asked alone.

        Evaluators are ids of the server's, or functions of yours. ``target`` says what answers, such as ``{"model": "…"}``; the
        commit that is checked out in the working directory is added as ``git_commit``, and whether tracked files differ from it
        as ``git_dirty``. An unfinished experiment that is the same in all of that goes on, unless ``resume`` is false; at another
        commit that is told on standard error.
        """
        if (dataset is None) == (data is None):
            raise ValueError("give dataset or data, and not both")
        if data is not None:
            dataset = self._local(list(data))
        scores = [one for one in evaluators if not isinstance(one, str)]
        names = [_name(score) for score in scores]
        if len(set(names)) != len(names):
            raise ValueError(f"two scores have one name: {names}")
        wanted = {
            "name": name,
            "dataset": dataset,
            "target": {**_revised(target or {}), "kind": "function"},
            "parameters": dict(parameters or {}),
            "evaluators": [one for one in evaluators if isinstance(one, str)],
            "repetitions": repetitions,
            "tags": list(tags),
            "baseline": baseline,
        }
        found = self._unfinished(wanted) if resume else None
        if found is None:
            found = self.ask("POST", "experiments", body=wanted, is_repeatable=False)["experiment_id"]
        return Experiment(self, found, scores)

    def open(self, name_or_id: str, evaluators: Sequence[Callable[..., Any]] = ()) -> "Experiment":
        """The experiment of that id, or the newest of that name; ``evaluators`` are functions of yours."""
        found = self.ask("GET", f"experiments/{_part(name_or_id)}")
        return Experiment(self, found["experiment_id"], list(evaluators))

    def _local(self, data: list[Any]) -> str:
        """A dataset of these items. Its name is made of them: the same items are the same dataset."""
        items = [item if isinstance(item, dict) and "input" in item else {"input": item} for item in data]
        lines = [json.dumps(item, sort_keys=True, ensure_ascii=False, allow_nan=False) for item in items]
        name = f"adhoc/{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:12]}"
        body = "".join(f"{line}\n" for line in lines).encode()
        path = f"datasets/{_part(name)}/import"
        # The same item twice is two items: a script counts what it was given.
        params = {"create": "true", "replace": "true", "keep_duplicates": "true", "format": "jsonl"}
        self.ask("POST", path, params=params, body=body)
        return name

    def _unfinished(self, wanted: Mapping[str, Any]) -> Optional[str]:
        try:
            found = self.ask("GET", f"experiments/{_part(wanted['name'])}")
            head = self.ask("GET", f"datasets/{_part(wanted['dataset'])}")
        except LabError as error:
            if error.status == 404:
                return None
            raise
        same = (
            found["status"] in ("pending", "running", "paused")
            and (found["dataset_id"], found["dataset_version"]) == (head["dataset_id"], head["version"])
            and _unrevised(found["target"]) == _unrevised(wanted["target"])
            and (found["parameters"] or {}) == wanted["parameters"]
            and sorted(one["id"] for one in found["evaluators"]) == sorted(wanted["evaluators"])
            and found["repetitions"] == wanted["repetitions"]
        )
        if not same:
            return None
        was, now = _revision(found["target"]), _revision(wanted["target"])
        if was != now:
            told = f"groundline: {wanted['name']} was begun at {was} and goes on at {now}; resume=False begins another"
            print(told, file=sys.stderr, flush=True)
        return str(found["experiment_id"])

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        is_repeatable: bool = True,
    ) -> Any:
        """What a route below /v1/lab answers. It is asked again while it says "later", or is away.

        A request that is not repeatable is asked again only where it was surely not taken.
        """
        query = {key: value for key, value in {**(params or {}), "tenant": self.tenant}.items() if value is not None}
        url = f"{self.url}/v1/lab/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        data, kind = _encoded(body)
        for attempt in range(1, ATTEMPTS + 1):
            request = urllib.request.Request(url, data=data, method=method)
            if kind:
                request.add_header("content-type", kind)
            if self._token:
                request.add_unredirected_header("authorization", f"Bearer {self._token}")
            pause = min(MAX_WAIT, 0.25 * 2 ** (attempt - 1))
            try:
                with self._opener.open(request, timeout=self.timeout) as response:
                    text = response.read()
                break
            except urllib.error.HTTPError as refused:
                error = _refused(refused, url)
                is_later = refused.code in (429, 503) or (is_repeatable and refused.code in (408, 425, 502, 504))
                pause = max(pause, _retry_after(refused))
            except (OSError, http.client.HTTPException) as away:
                reason = getattr(away, "reason", away)
                error = LabError(f"{url}: {reason}; is the server running? (groundline serve)")
                is_later = is_repeatable or isinstance(reason, ConnectionRefusedError)
                is_later = is_later and not isinstance(reason, ssl.SSLCertVerificationError)
            if not is_later or attempt == ATTEMPTS:
                raise error from None
            time.sleep(pause)
        try:
            return json.loads(text)
        except ValueError as wrong:
            raise LabError(f"{url}: the answer is no JSON: {wrong}; is this Groundline's HTTP port?") from None


class Experiment:
    """An experiment of the server, and the scores of your own."""

    def __init__(self, lab: Lab, experiment_id: str, scores: Sequence[Callable[..., Any]] = ()) -> None:
        self.lab = lab
        self.experiment_id = experiment_id
        self._scores = [(_name(score), score, _wanted(score, "output", GIVEN + JUDGED)) for score in scores]
        self._path = f"experiments/{_part(experiment_id)}"

    def run(
        self,
        function: Target,
        *,
        concurrency: int = 4,
        retry: Optional[str] = None,
        max_cost: Optional[float] = None,
        progress: Optional[bool] = None,
    ) -> Told:
        """Calls ``function`` for every run that is missing, stores what it answers, and gives the summary.

        The parameters name what the function gets: input, contexts, files, parameters, run_id, item_id, external_id,
        repetition, attempt, traceparent; a first one of any other name gets the input. It returns a text or JSON, or a dict with
        ``output`` or ``error`` and perhaps contexts, output_context, in_tokens, out_tokens, cost_usd, duration (seconds), trace_id.
        It may be async. What it raises is the run's error. It is called by several threads at once, and bounds its own time.

        ``retry`` is "errors" for the runs without an answer, "failed" for those that failed a metric too, at most 1,000 of
        them. No further run is begun when the answers cost ``max_cost`` US dollars. When it returns or is interrupted, what
        was answered is stored with its scores.
        """
        if not 1 <= concurrency <= MAX_CONCURRENCY:
            raise ValueError(f"concurrency is {concurrency}; it may be 1 to {MAX_CONCURRENCY}")
        call = _Call(function, _wanted(function, "input", GIVEN), self._scores)
        sender = _Sender(self, sys.stderr.isatty() if progress is None else progress)
        seen: set[str] = set()
        is_stopped = False
        try:
            while not is_stopped:
                params = {"limit": PAGE, "retry": retry, "expected": "true" if self._scores else None}
                page = self.lab.ask("GET", f"{self._path}/todo", params=params)
                # What was refused, or failed again, would come for ever.
                page = [run for run in page if run["run_id"] not in seen]
                seen.update(run["run_id"] for run in page)
                if not page:
                    break
                is_stopped = self._page(page, call, sender, concurrency, max_cost)
                if retry:
                    break
        except BaseException as error:
            # Ctrl-C and its like: what was answered is kept, unless it is the server that is away.
            if not isinstance(error, LabError):
                sender.flush()
            raise
        finally:
            call.close()
        if is_stopped:
            self.lab.ask("PATCH", self._path, body={"status": "paused"})
        return self.summary()

    def summary(self, weights: str = "items") -> Told:
        """Each metric with its 95 % interval; ``weights`` "traffic" weighs items by how likely their traces were drawn."""
        return Told(self.lab.ask("GET", f"{self._path}/summary", params={"weights": weights}))

    def compare(self, baseline: Optional[str] = None) -> Told:
        """The paired difference to ``baseline``, by name or id; without one to the marked one, else the latest that ended well."""
        params = {"new": self.experiment_id, "baseline": baseline}
        return Told(self.lab.ask("GET", "compare", params=params))

    def mark_baseline(self) -> None:
        """Others of the dataset are compared with this one from now on."""
        self.lab.ask("PATCH", self._path, body={"baseline": True})

    def cancel(self) -> None:
        """It takes no more runs."""
        self.lab.ask("PATCH", self._path, body={"status": "cancelled"})

    def _page(
        self, page: list[Any], call: "_Call", sender: "_Sender", concurrency: int, max_cost: Optional[float]
    ) -> bool:
        """Asks and sends the runs of a page; whether it stopped for its cost."""
        todo = iter(page)
        # Some wait beside those that are asked, so that sending does not hold up asking; where answers cost, none do.
        most = concurrency if max_cost is not None else 2 * concurrency
        with ThreadPoolExecutor(concurrency, thread_name_prefix="groundline-lab") as pool:
            asked: set[Future[dict[str, Any]]] = set()
            try:
                while True:
                    is_stopped = max_cost is not None and sender.cost >= max_cost
                    while len(asked) < most and not is_stopped and (run := next(todo, None)) is not None:
                        asked.add(pool.submit(call, run))
                    if not asked:
                        sender.flush()
                        return is_stopped and next(todo, None) is not None
                    done, asked = wait(asked, timeout=LINGER, return_when=FIRST_COMPLETED)
                    for future in done:
                        sender.take(future.result())
                    sender.flush_if_due()
            except BaseException:
                # What is being answered is kept; what only waits is not asked.
                ended = [future for future in asked if not future.cancel()]
                for future in ended:
                    sender.take(future.result())
                raise


class _Call:
    """Asks the function for one run, and the scores about its answer."""

    def __init__(self, function: Target, wanted: "_Wanted", scores: Sequence[tuple[str, Target, "_Wanted"]]) -> None:
        self.function, self.wanted, self.scores = function, wanted, scores
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._thread: Optional[threading.Thread] = None
        self._lock = threading.Lock()

    def __call__(self, run: Mapping[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            sent = _answer(self._value(self.function(**self.wanted.of(run, run["input"]))))
        except Exception as error:  # noqa: BLE001: what the user's code raises is the run's error
            sent = {"error": f"{type(error).__name__}: {error}"}
        sent.setdefault("duration_ms", (time.perf_counter() - started) * 1e3)
        sent.update(item_id=run["item_id"], repetition=run["repetition"], attempt=run["attempt"], run_id=run["run_id"])
        if sent.get("error") is None and self.scores:
            known = {**run, "output": sent["output"], "answer": {**sent}, "contexts": sent.get("contexts") or run["contexts"]}
            sent["scores"] = [self._score(*score, known) for score in self.scores]
        return sent

    def _score(self, name: str, score: Target, wanted: "_Wanted", known: Mapping[str, Any]) -> dict[str, Any]:
        missing = next((one for one in wanted.required if known.get(one) in (None, [])), None)
        if missing is not None:
            return {"name": name, "skipped": missing}
        try:
            return {"name": name, **_scored(self._value(score(**wanted.of(known, known["output"]))))}
        except Exception as error:  # noqa: BLE001: a score that cannot be given is told, and is no value
            return {"name": name, "error": f"{type(error).__name__}: {error}"}

    def _value(self, value: Any) -> Any:
        if not inspect.isawaitable(value):
            return value
        with self._lock:
            # One loop for all: clients keep their connections with the loop that made them.
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="groundline-lab-loop", daemon=True)
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(_awaited(value), self._loop).result()

    def close(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            # A loop that its thread still holds complains when the interpreter takes it down. One whose code never yields is left to it.
            self._thread.join(5)
            if not self._thread.is_alive():
                self._loop.close()


class _Sender:
    """Answers on their way to the server, some at once."""

    def __init__(self, experiment: Experiment, is_shown: bool) -> None:
        self.experiment, self.is_shown = experiment, is_shown
        self.batch: list[dict[str, Any]] = []
        self.bytes, self.stored, self.cost = 0, 0, 0.0
        self.sent_at = time.monotonic()

    def take(self, answer: dict[str, Any]) -> None:
        self.batch.append(answer)
        self.bytes += len(json.dumps(answer))
        self.cost += answer.get("cost_usd") or 0.0

    def flush_if_due(self) -> None:
        is_full = len(self.batch) >= BATCH or self.bytes >= BATCH_BYTES
        if is_full or time.monotonic() - self.sent_at >= LINGER:
            self.flush()

    def flush(self) -> None:
        """When it returns, what was answered is stored and scored."""
        if not self.batch:
            return
        lab, path = self.experiment.lab, self.experiment._path
        told = lab.ask("POST", f"{path}/runs", body=self.batch)
        for refused in told.get("refused", []):
            print(f"groundline: refused: {refused.get('column', '')}: {refused.get('message')}", file=sys.stderr)
        self.batch, self.bytes, self.sent_at = [], 0, time.monotonic()
        self.stored += told["stored"]
        if self.is_shown:
            end = "\n" if told["missing"] == 0 else ""
            print(f"\r{self.stored} runs stored, {told['missing']} missing ", end=end, file=sys.stderr, flush=True)


class _Wanted:
    """What a function asks for."""

    def __init__(self, names: Sequence[str], required: Sequence[str], first: Optional[str]) -> None:
        self.names, self.required, self.first = names, required, first

    def of(self, known: Mapping[str, Any], first: Any) -> dict[str, Any]:
        """What it is called with; what may be missing and is, keeps its default."""
        given = {name: known.get(name) for name in self.names if name in self.required or known.get(name) is not None}
        return {self.first: first, **given} if self.first else given


def _wanted(function: Callable[..., Any], first: str, names: Sequence[str]) -> _Wanted:
    parameters = list(inspect.signature(function).parameters.values())
    usual = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind is p.POSITIONAL_ONLY for p in parameters):
        raise TypeError(f"{_name(function)}: parameters are given by name; take the / out")
    unknown = [p.name for p in usual if p.name not in names and p.default is p.empty]
    is_first = bool(unknown) and usual[0].name == unknown[0]
    if len(unknown) > int(is_first):
        wrong = unknown[int(is_first) :]
        raise TypeError(f"{_name(function)}: there is no {', '.join(wrong)}; there are {', '.join(names)}")
    if not usual:
        raise TypeError(f"{_name(function)}: it has no parameter; give it one for the {first}")
    known = [p for p in usual if p.name in names]
    required = [p.name for p in known if p.default is p.empty]
    return _Wanted([p.name for p in known], required, unknown[0] if is_first else None)


async def _awaited(value: Any) -> Any:
    return await value


def _answer(said: Any) -> dict[str, Any]:
    is_object = isinstance(said, dict) and said.keys() <= ANSWER and ("output" in said or "error" in said)
    sent = {key: value for key, value in said.items() if value is not None} if is_object else {"output": said}
    if is_object:
        # The server takes milliseconds, and keeps no reason why a model stopped.
        seconds = sent.pop("duration", None)
        sent.pop("finish_reason", None)
        if isinstance(seconds, (int, float)) and 0 <= seconds < math.inf:
            sent.setdefault("duration_ms", seconds * 1e3)
    if sent.get("error") is not None:
        sent["error"] = str(sent["error"])
    elif sent.get("output") is None:
        sent = {"error": "the function returned None"}
    # What cannot be sent is this run's fault, and not that of those which are sent with it.
    json.dumps(sent, allow_nan=False)
    return sent


def _scored(said: Any) -> dict[str, Any]:
    if isinstance(said, bool):
        return {"passed": said, "value": float(said)}
    if isinstance(said, (int, float)):
        if not math.isfinite(said):
            raise ValueError(f"the value is {said}, which is no finite number")
        return {"value": float(said)}
    if isinstance(said, dict) and said and said.keys() <= SCORE:
        json.dumps(said, allow_nan=False)
        return said
    raise TypeError(f"{type(said).__name__} is no number, bool or dict of {', '.join(sorted(SCORE))}")


def _revised(target: Mapping[str, Any]) -> dict[str, Any]:
    """The target with its commit. Where it tells one, without git, outside of a repository and before its first commit as it is."""
    commit = None if "git_commit" in target else _git("rev-parse", "--verify", "HEAD")
    if not commit or not set(commit) <= set("0123456789abcdef"):
        return dict(target)
    # Reports and environments that a build makes are untracked, and are no change of the application.
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return {**target, "git_commit": commit, **({} if changed is None else {"git_dirty": changed != ""})}


def _unrevised(target: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in target.items() if key not in ("git_commit", "git_dirty")}


def _revision(target: Mapping[str, Any]) -> str:
    commit = target.get("git_commit")
    changed = " with changes" if target.get("git_dirty") else ""
    return f"commit {str(commit)[:12]}{changed}" if commit else "a commit that is not known"


def _git(*arguments: str) -> Optional[str]:
    """What git says; None where it is not there, refuses, or does not answer. It starts no program of the repository's settings."""
    words = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    around = {key: value for key, value in os.environ.items() if key not in OF_HOOKS}
    no = subprocess.DEVNULL
    try:
        told = subprocess.run(words, env=around, stdin=no, stdout=subprocess.PIPE, stderr=no, timeout=GIT_PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.decode("utf-8", "replace").strip() if told.returncode == 0 else None


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _part(name: Any) -> str:
    return urllib.parse.quote(str(name), safe="")


def _encoded(body: Any) -> tuple[Optional[bytes], Optional[str]]:
    if body is None:
        return None, None
    if isinstance(body, bytes):
        return body, "application/x-ndjson"
    return json.dumps(body, allow_nan=False).encode(), "application/json"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is not carried to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _refused(refused: urllib.error.HTTPError, url: str) -> LabError:
    text = refused.read().decode("utf-8", "replace")
    try:
        body = json.loads(text)
        return LabError(body["error"], refused.code, body.get("faults", ()))
    except (ValueError, KeyError, TypeError):
        return LabError(f"{url}: {refused.code} {text[:200]}".rstrip(), refused.code)


def _retry_after(refused: urllib.error.HTTPError) -> float:
    try:
        return min(MAX_WAIT, float(refused.headers.get("retry-after", 0)))
    except ValueError:
        return 0.0


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}"


def _estimate(value: Optional[Mapping[str, Any]]) -> str:
    if value is None:
        return "-"
    return f"{_number(value['estimate'])} [{_number(value.get('lower'))}, {_number(value.get('upper'))}]"


def _table(rows: Sequence[Sequence[Any]]) -> str:
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in texts) for at in range(len(texts[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts)


def _summary(told: Mapping[str, Any]) -> str:
    experiment, summary = told["experiment"], told["summary"]
    head = (
        f"{experiment['name']}: {experiment['status']}, {summary['done']} of {summary['runs']} runs over "
        f"{summary['items']} items, {summary['errors']} without an answer"
    )
    rows: list[Sequence[Any]] = [("metric", "passed", "value", "scores", "errors", "skipped")]
    for metric in summary["metrics"]:
        passed, value = _estimate(metric["passed"]), _estimate(metric["value"])
        rows.append((metric["metric"], passed, value, metric["scores"], metric["errors"], metric["skipped"]))
    return f"{head}\n\n{_table(rows)}" if len(rows) > 1 else head


def _moved(item: Mapping[str, Any]) -> str:
    question = " ".join((item.get("question") or "").split())
    return f"{item['kind']}: {item.get('external_id') or item['item_id']} {question[:100]}".rstrip()


def _comparison(told: Mapping[str, Any]) -> str:
    part = told["comparison"]
    head = (
        f"{told['new']['name']} against {told['baseline']['name']}: {part['paired']} items in both, "
        f"{part['unpaired']} in one only or changed, {part['unchanged']} unchanged"
    )
    rows: list[Sequence[Any]] = [("metric", "measure", "baseline", "new", "difference", "p", "adjusted", "verdict")]
    for metric in part["metrics"]:
        difference = {"estimate": metric["difference"], "lower": metric["lower"], "upper": metric["upper"]}
        rows.append(
            (metric["metric"], metric["measure"], _number(metric["baseline"]), _number(metric["new"]),
             _estimate(difference), _number(metric["p"]), _number(metric["p_adjusted"]), metric["verdict"])
        )  # fmt: skip
    moved = [_moved(item) for item in part["items"][:20]]
    return "\n".join([head, "", _table(rows), *([""] if moved else []), *moved])
