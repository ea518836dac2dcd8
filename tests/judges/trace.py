"""A trace of a question, three retrieved documents and an answer, as OTLP/JSON: python3 tests/judges/trace.py > trace.json"""

import json
import time

NOW = time.time_ns()
DOCUMENTS = [
    "Dracula is a novel by Bram Stoker, published in 1897.",
    "Bram Stoker was born in Dublin.",
    "Bread is made of flour and water.",
]


def text(key: str, value: str) -> dict:
    return {"key": key, "value": {"stringValue": value}}


def message(role: str, content: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}])


def span(number: int, name: str, attributes: list[dict]) -> dict:
    made = {"traceId": f"{NOW:032x}", "spanId": f"{number:016x}", "name": name, "kind": 3, "attributes": attributes,
            "startTimeUnixNano": str(NOW), "endTimeUnixNano": str(NOW + 1_000_000_000)}
    return made if number == 1 else {**made, "parentSpanId": f"{1:016x}"}


spans = [
    span(1, "ask", []),
    span(2, "retrieve", [
        text("gen_ai.operation.name", "retrieval"),
        text("gen_ai.retrieval.documents", json.dumps([{"id": str(n), "content": one} for n, one in enumerate(DOCUMENTS, 1)])),
    ]),
    span(3, "chat", [
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.input.messages", message("user", "Who wrote Dracula?")),
        text("gen_ai.output.messages", message("assistant", "Bram Stoker wrote Dracula. It appeared in 1897.")),
    ]),
]
resource = {"attributes": [text("service.name", "library")]}
print(json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}))
