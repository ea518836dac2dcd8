"""Answers over gRPC. Needs the packages of the extra ``grpc``."""

from __future__ import annotations

import hmac
import json
from concurrent import futures
from typing import Any, Callable, Optional

import grpc

from . import _pb2 as pb
from ._evaluator import PROTOCOL, Evaluator

#: The service of proto/groundline/evaluator/v1/evaluator.proto.
SERVICE = "groundline.evaluator.v1.Evaluator"
#: The message SERVING of grpc.health.v1.HealthCheckResponse.
SERVING = b"\x08\x01"
#: Batches that are answered at once; Groundline sends as many as its key ``concurrency`` says.
THREADS = 8


def grpc_server(
    evaluator: Evaluator, address: str, max_message: int, token: Optional[str] = None
) -> tuple[grpc.Server, int]:
    """A server that answers ``Describe``, ``Score`` and the health check once it is started, and its port."""

    def checked(protocol: int, context: grpc.ServicerContext) -> None:
        given = dict(context.invocation_metadata()).get("authorization", "")
        if token is not None and not hmac.compare_digest(str(given).encode(), f"Bearer {token}".encode()):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the bearer token is missing or wrong")
        if protocol != PROTOCOL:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"protocol {protocol}: version {PROTOCOL} is spoken")

    def describe(request: Any, context: grpc.ServicerContext) -> Any:
        checked(request.protocol, context)
        return _description(evaluator)

    def score(request: Any, context: grpc.ServicerContext) -> Any:
        checked(request.protocol, context)
        answers = [_answer(evaluator.score(_item(item))) for item in request.items]
        return pb.ScoreResponse(version=evaluator.version, answers=answers)

    server = grpc.server(
        futures.ThreadPoolExecutor(THREADS),
        options=[("grpc.max_receive_message_length", max_message), ("grpc.max_send_message_length", max_message)],
    )
    methods = {
        "Describe": _method(describe, pb.DescribeRequest),
        "Score": _method(score, pb.ScoreRequest),
    }
    health = {"Check": grpc.unary_unary_rpc_method_handler(lambda request, context: SERVING)}
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(SERVICE, methods),
            grpc.method_handlers_generic_handler("grpc.health.v1.Health", health),
        )
    )
    return server, server.add_insecure_port(address)


def _method(answer: Callable[[Any, grpc.ServicerContext], Any], request: Any) -> grpc.RpcMethodHandler:
    return grpc.unary_unary_rpc_method_handler(
        answer, request_deserializer=request.FromString, response_serializer=lambda message: message.SerializeToString()
    )


def _description(evaluator: Evaluator) -> Any:
    told = evaluator.describe()
    lower, higher = pb.DIRECTION_LOWER, pb.DIRECTION_HIGHER
    return pb.DescribeResponse(
        protocol=told["protocol"],
        name=told["name"],
        version=told["version"],
        inputs=[pb.Input(name=name.rstrip("?"), optional=name.endswith("?")) for name in told["inputs"]],
        metrics=[
            pb.Metric(name=m["name"], better=lower if m["better"] == "lower" else higher, threshold=m["threshold"])
            for m in told["metrics"]
        ],
    )


def _item(item: Any) -> dict[str, Any]:
    """The item in the form of the JSON protocol: what was not sent is not in it."""
    told: dict[str, Any] = {"id": item.id}
    for name in ("question", "answer", "expected", "system_prompt", "tenant"):
        if item.HasField(name):
            told[name] = getattr(item, name)
    for name in ("expected_answers", "expected_documents", "history"):
        if getattr(item, name):
            told[name] = list(getattr(item, name))
    if item.contexts:
        told["contexts"] = [_context(context) for context in item.contexts]
    if item.steps:
        told["steps"] = [_step(step) for step in item.steps]
    if item.constraints:
        told["constraints"] = [_constraint(constraint) for constraint in item.constraints]
    return told


def _context(context: Any) -> dict[str, Any]:
    names = ("id", "uri", "text", "rank", "score", "tenant")
    told = {name: getattr(context, name) if context.HasField(name) else None for name in names}
    return {**told, "metadata": json.loads(context.metadata) if context.HasField("metadata") else None}


def _step(step: Any) -> dict[str, Any]:
    told = {name: getattr(step, name) if step.HasField(name) else None for name in ("arguments", "result")}
    return {"tool": step.tool, **told, "failed": step.failed}


def _constraint(constraint: Any) -> Any:
    if constraint.WhichOneof("kind") == "any_of":
        return [_constraint(one) for one in constraint.any_of.constraints]
    return constraint.text


def _answer(answer: dict[str, Any]) -> Any:
    scores = [pb.Score(**score) for score in answer.get("scores", ())]
    return pb.Answer(id=answer["id"], scores=scores, error=answer.get("error"))
