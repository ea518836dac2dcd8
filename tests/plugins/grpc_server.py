"""A plug-in over gRPC that misbehaves as the answer of each item says. Arguments: the repository, a file for its health, a port
(0 for a free one), and for TLS the files of a certificate and its key.

Its messages are those of evaluator.binpb, which protoc made of the .proto file:
protoc -I proto --descriptor_set_out=tests/fixtures/plugin/evaluator.binpb groundline/evaluator/v1/evaluator.proto
"""

import math
import os
import re
import sys
import time
from concurrent import futures
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

root, health = Path(sys.argv[1]), Path(sys.argv[2])
asked = health.with_suffix(".asked")
package = "groundline.evaluator.v1"
files = descriptor_pb2.FileDescriptorSet.FromString((root / "tests/fixtures/plugin/evaluator.binpb").read_bytes())
pool = descriptor_pool.DescriptorPool()
for file in files.file:
    pool.Add(file)


def message(name):
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))


# The descriptors are those of the file that users read.
text = re.sub(r"//.*", "", (root / "proto/groundline/evaluator/v1/evaluator.proto").read_text())
written = {
    name: {field: int(number) for field, number in re.findall(r"(\w+) = (\d+);", body)}
    for name, body in re.findall(r"^message (\w+) \{(.*?)^\}", text, re.DOTALL | re.MULTILINE)
}
compiled = {one.name: {field.name: field.number for field in one.field} for one in files.file[0].message_type}
assert written == compiled, f"evaluator.binpb is not of this .proto: {written} {compiled}"

seen = {}


def describe(request, context):
    assert request.protocol == 1
    metrics = [message("Metric")(name="size", threshold=0.5, better=1)]
    inputs = [message("Input")(name=name, optional=name != "answer") for name in ("answer", "contexts", "constraints")]
    return message("DescribeResponse")(protocol=1, name="grpc", version="1", inputs=inputs, metrics=metrics)


def score(request, context):
    answers = []
    for item in request.items:
        word, one = item.answer.split()[0], message("Score")(metric="size", value=1.0)
        seen[word] = seen.get(word, 0) + 1
        assert not item.HasField("question") and not item.HasField("system_prompt")
        if word == "kill" and not asked.exists():
            # Whoever started this server ends it now.
            asked.write_text("asked")
            time.sleep(60)
        elif word == "hang":
            time.sleep(30)
        elif word == "poison":
            context.abort(grpc.StatusCode.INTERNAL, "it broke")
        elif word == "refused":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such language")
        elif word == "busy" and seen[word] == 1:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "later")
        elif word == "token":
            one.label = dict(context.invocation_metadata()).get("authorization", "none")
        elif word == "nan":
            one.value = math.nan
        elif word == "infinite":
            one.value = math.inf
        elif word == "none":
            one.ClearField("value")
        elif word == "silent":
            continue
        elif word == "error":
            answers.append(message("Answer")(id=item.id, error="no model"))
            continue
        elif word == "twice":
            answers.append(message("Answer")(id=item.id, scores=[one]))
            one = message("Score")(metric="size", value=0.0)
        elif word == "other":
            answers.append(message("Answer")(id="nobody", scores=[one]))
        elif word == "inputs":
            said = [c.text or "/".join(i.text for i in c.any_of.constraints) for c in item.constraints]
            said += [f"{c.id} {c.uri} {c.text} {c.rank} {c.score} {c.metadata}" for c in item.contexts]
            one.rationale = " | ".join(said)
        answers.append(message("Answer")(id=item.id, scores=[one]))
    return message("ScoreResponse")(version="1", answers=answers)


def method(answer, request, response):
    read, write = message(request).FromString, message(response).SerializeToString
    return grpc.unary_unary_rpc_method_handler(answer, request_deserializer=read, response_serializer=write)


def check(request, context):
    # 1 is serving, 2 is not.
    return b"\x08\x02" if health.read_text() == "down" else b"\x08\x01"


server = grpc.server(futures.ThreadPoolExecutor(8))
methods = {
    "Describe": method(describe, "DescribeRequest", "DescribeResponse"),
    "Score": method(score, "ScoreRequest", "ScoreResponse"),
}
checks = {"Check": grpc.unary_unary_rpc_method_handler(check)}
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(f"{package}.Evaluator", methods)])
if health.exists():
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", checks)])
address, tls = f"127.0.0.1:{sys.argv[3]}", [Path(name).read_bytes() for name in sys.argv[4:]]
if tls:
    port = server.add_secure_port(address, grpc.ssl_server_credentials([(tls[1], tls[0])]))
else:
    port = server.add_insecure_port(address)
server.start()
print(port, flush=True)
server.wait_for_termination()
os._exit(0)
