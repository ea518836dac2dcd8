"""The ways to be asked: JSON lines over pipes, JSON over HTTP, and gRPC."""

from __future__ import annotations

import argparse
import hmac
import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any, Optional, Sequence

from ._evaluator import PROTOCOL, Evaluator

#: Longest body of a request, bytes.
MAX_BODY = 256 << 20


def main(evaluator: Evaluator, arguments: Sequence[str]) -> None:
    """Reads the command line and answers until the end."""
    parser = argparse.ArgumentParser(description=f"The evaluator {evaluator.name} {evaluator.version} for Groundline")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--http", metavar="[HOST:]PORT", help="answer over HTTP; without an address, over standard input and output")
    way.add_argument("--grpc", metavar="[HOST:]PORT", help="answer over gRPC, which needs groundline-evaluator[grpc]")
    parser.add_argument("--token-file", metavar="FILE", help="a file with the bearer token that requests must have")
    given = parser.parse_args(arguments)
    address = given.http or given.grpc
    if address is None:
        serve_process(evaluator)
        return
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit():
        parser.error(f"{address!r} is no [HOST:]PORT")
    host = host or "127.0.0.1"
    token = Path(given.token_file).read_text(encoding="utf-8").strip() if given.token_file else None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if given.grpc is None:
            server = http_server(evaluator, (host, int(port)), token)
            _listening("http", host, server.server_address[1])
            server.serve_forever()
        else:
            _serve_grpc(evaluator, host, port, token)
    except KeyboardInterrupt:
        pass


def _serve_grpc(evaluator: Evaluator, host: str, port: str, token: Optional[str]) -> None:
    try:
        from ._grpc import grpc_server
    except ImportError as error:
        sys.exit(f"--grpc needs more packages: pip install 'groundline-evaluator[grpc]' ({error})")
    server, bound = grpc_server(evaluator, f"{host}:{port}", MAX_BODY, token)
    server.start()
    _listening("grpc", host, bound)
    server.wait_for_termination()


def _listening(scheme: str, host: str, port: int) -> None:
    print(f"listening on {scheme}://{host}:{port}", file=sys.stderr, flush=True)


def serve_process(evaluator: Evaluator) -> None:
    """Answers lines of standard input on standard output until the input ends.

    What the function and its libraries print goes to standard error: standard output is for answers.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    serve_lines(evaluator, sys.stdin.buffer, answers)


def serve_lines(evaluator: Evaluator, questions: IO[bytes], answers: IO[str]) -> None:
    """Answers each line of ``questions``, in order."""
    for line in questions:
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            if not isinstance(item, dict):
                raise ValueError("a line is one JSON object")
        except ValueError as error:
            print(f"a line is left out: {error}", file=sys.stderr, flush=True)
            continue
        answer = evaluator.describe() if item.get("type") == "describe" else evaluator.score(item)
        answers.write(_json(answer) + "\n")
        answers.flush()


def http_server(evaluator: Evaluator, address: tuple[str, int], token: Optional[str] = None) -> ThreadingHTTPServer:
    """A server that answers ``GET …/describe`` and ``POST …/score``; its ``serve_forever`` does so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_GET(self) -> None:
            if self._allowed() and self._path("describe"):
                self._answer(200, evaluator.describe())

        def do_POST(self) -> None:
            if not (self._allowed() and self._path("score")):
                return
            try:
                length = int(self.headers.get("Content-Length") or "")
            except ValueError:
                return self._refuse(411, "the request has no Content-Length")
            if length > MAX_BODY:
                return self._refuse(413, f"the request is longer than {MAX_BODY} bytes")
            try:
                body = json.loads(self.rfile.read(length))
                if body["protocol"] != PROTOCOL:
                    return self._answer(400, {"error": f"protocol {body['protocol']}: version {PROTOCOL} is spoken"})
                items = [dict(item) for item in body["items"]]
            except (ValueError, KeyError, TypeError) as error:
                return self._answer(400, {"error": f"the request is not as agreed: {error!r}"})
            answers = [evaluator.score(item) for item in items]
            self._answer(200, {"version": evaluator.version, "answers": answers})

        def _allowed(self) -> bool:
            given = self.headers.get("Authorization", "")
            if token is None or hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                return True
            self._refuse(401, "the bearer token is missing or wrong")
            return False

        def _path(self, last: str) -> bool:
            if self.path.split("?")[0].rstrip("/").rpartition("/")[2] == last:
                return True
            self._refuse(404, "there are GET /describe and POST /score")
            return False

        def _refuse(self, status: int, why: str) -> None:
            # The body was not read, so the connection cannot be used again.
            self.close_connection = True
            self._answer(status, {"error": why})

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            data = _json(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return ThreadingHTTPServer(address, Handler)


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
