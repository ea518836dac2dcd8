"""What an evaluator is: its description, and the answer to one item."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, TypedDict, Union

#: The version of the protocol that this package speaks.
PROTOCOL = 1

#: What a function may ask for, by the name of its parameter.
INPUTS = (
    "question",
    "answer",
    "contexts",
    "expected",
    "expected_answers",
    "expected_documents",
    "constraints",
    "system_prompt",
    "history",
    "tenant",
    "steps",
)


class Context(TypedDict, total=False):
    """One retrieved chunk; what the sender did not say is None."""

    id: Optional[str]
    uri: Optional[str]
    text: Optional[str]
    rank: Optional[int]
    score: Optional[float]
    tenant: Optional[str]
    metadata: Any


class Step(TypedDict):
    """One call of a tool; what was not recorded is None."""

    tool: str
    arguments: Optional[str]
    result: Optional[str]
    failed: bool


@dataclass(frozen=True)
class Metric:
    """A metric that the evaluator reports.

    With a threshold a value passes on its good side: at it or above where higher is better, below it where lower is.
    Without one the score's ``passed`` is the verdict, or there is none.
    """

    name: str
    better: str = "higher"
    threshold: Optional[float] = None

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise ValueError(f"metric {self.name!r}: better is {self.better!r}, must be 'higher' or 'lower'")


@dataclass(frozen=True)
class Score:
    """What is said of one metric: a value, a verdict, or why there is none."""

    value: Optional[float] = None
    passed: Optional[bool] = None
    label: Optional[str] = None
    rationale: Optional[str] = None
    #: Why there is nothing to judge, such as the name of what is missing.
    skipped: Optional[str] = None
    error: Optional[str] = None


#: What a function may return: a number, a verdict or a score, or these by metric.
Result = Union[float, bool, Score, Mapping[str, Union[float, bool, Score]]]


class Evaluator:
    """A function with its description. Calling it calls the function."""

    def __init__(self, function: Callable[..., Result], name: str, version: str, metrics: Sequence[Metric]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.version = version
        self.metrics = tuple(metrics)
        self.inputs = _inputs_of(function)
        self._required = tuple(text for text in self.inputs if not text.endswith("?"))
        if not version:
            raise ValueError("version is empty: give one that changes whenever the same input may give another value")
        if not self.metrics or len({metric.name for metric in self.metrics}) != len(self.metrics):
            raise ValueError("metrics are one or more, each with a name of its own")

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        return self.function(*args, **kwargs)

    def describe(self) -> dict[str, Any]:
        """The description, as it is sent."""
        metrics = [{"name": m.name, "better": m.better, "threshold": m.threshold} for m in self.metrics]
        return {
            "type": "description",
            "protocol": PROTOCOL,
            "name": self.name,
            "version": self.version,
            "inputs": list(self.inputs),
            "metrics": metrics,
        }

    def score(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one item, as it is sent. A function that fails gives an error, and never a score."""
        answer: dict[str, Any] = {"id": item.get("id")}
        missing = next((name for name in self._required if item.get(name) is None), None)
        if missing is not None:
            answer["scores"] = [{"metric": metric.name, "skipped": missing} for metric in self.metrics]
            return answer
        known = {name: item[name] for name in (text.rstrip("?") for text in self.inputs) if item.get(name) is not None}
        try:
            answer["scores"] = self._scores(self.function(**known))
        except Exception as error:  # what the user's code raises is told, and the next item is asked
            traceback.print_exc(file=sys.stderr)
            answer["error"] = f"{type(error).__name__}: {error}"
        return answer

    def run(self, arguments: Optional[Sequence[str]] = None) -> None:
        """Answers until the end: over standard input and output, or with ``--http [HOST:]PORT`` over HTTP, or with
        ``--grpc [HOST:]PORT`` over gRPC."""
        from ._serve import main

        main(self, sys.argv[1:] if arguments is None else list(arguments))

    def _scores(self, result: Result) -> list[dict[str, Any]]:
        if not isinstance(result, Mapping):
            if len(self.metrics) != 1:
                raise TypeError(f"there are {len(self.metrics)} metrics: return a dict of metric to score")
            result = {self.metrics[0].name: result}
        return [_told(name, score) for name, score in result.items()]


def evaluator(
    *, version: str, metrics: Sequence[Metric] = (), name: Optional[str] = None
) -> Callable[[Callable[..., Result]], Evaluator]:
    """Makes an evaluator of a function.

    Without metrics there is one, named after the function, without a threshold.
    """

    def made(function: Callable[..., Result]) -> Evaluator:
        named = name or function.__name__
        return Evaluator(function, named, version, metrics or [Metric(named)])

    return made


def _inputs_of(function: Callable[..., Result]) -> tuple[str, ...]:
    inputs = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"parameter {parameter}: inputs are named, such as answer or question=None")
        if parameter.name not in INPUTS:
            raise TypeError(f"parameter {parameter.name!r} is no input; there are {', '.join(INPUTS)}")
        inputs.append(parameter.name + ("" if parameter.default is parameter.empty else "?"))
    if not inputs:
        raise TypeError(f"the function asks for nothing; name inputs as parameters: {', '.join(INPUTS)}")
    return tuple(inputs)


def _told(metric: str, score: Union[float, bool, Score]) -> dict[str, Any]:
    # The verdicts of other libraries, such as numpy's, are no bool and would pass for numbers.
    if isinstance(score, bool) or type(score).__name__ in ("bool", "bool_"):
        score = Score(passed=bool(score))
    elif isinstance(score, (int, float)):
        score = Score(float(score))
    elif not isinstance(score, Score):
        # Numbers of other libraries, such as numpy's.
        try:
            score = Score(float(score))
        except (TypeError, ValueError):
            raise TypeError(f"metric {metric!r}: {type(score).__name__} is no number, bool or Score") from None
    told: dict[str, Any] = {"metric": metric}
    if score.value is not None:
        value = float(score.value)
        if not math.isfinite(value):
            return {"metric": metric, "error": f"the value is {value}, which is no finite number"}
        told["value"] = value
    if score.passed is not None:
        told["passed"] = bool(score.passed)
    for name in ("label", "rationale", "skipped", "error"):
        text = getattr(score, name)
        if text is not None:
            told[name] = str(text)
    return told
