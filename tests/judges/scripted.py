"""A stand-in for a judge, to try a configuration without a model: python3 tests/judges/scripted.py [PORT]

It speaks OpenAI's chat completions and answers every question of the program as its schema asks: all is well, but for the last of
several parts. It reads none of the texts, so its verdicts tell nothing about them.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def verdict(system: str, user: str) -> dict:
    schema = json.loads(system.split("JSON schema: ")[1])
    members = schema["properties"]
    if "rating" in members:
        return {"rationale": "It is fine.", "problems": [], "rating": "yes"}
    if "result" in members:
        return {"rationale": "It is fine.", "failure": "none", "result": True}
    if "choice" in members:
        return {"rationale": "It is fine.", "choice": members["choice"]["enum"][0]}
    if "questions" in members:
        return {"questions": ["Who wrote Dracula?"] * 3}
    if "statements" in members:
        words = members["statements"]["items"]["properties"]["verdict"]["enum"]
        verdicts = ["TP", "TP", "FP", "FN"] if words[0] == "TP" else ["yes", "yes", "yes", "no"]
        return {"statements": [{"statement": f"Claim {n}", "reason": "It says so.", "verdict": v} for n, v in enumerate(verdicts, 1)]}
    if "parts" in members:
        return {"parts": [user.split("<<<ANSWER ")[1].split("\n")[1]]}
    if "analysis" in members:
        return {"analysis": "They fail alike."}
    name = system.split("one item for each ")[1].split(",")[0]
    count = user.count(f"<<<{name} ")
    answer = lambda n: "no" if n == count > 1 else "yes"
    return {"items": [{"number": n, "reason": "It says so.", "verdict": answer(n)} for n in range(1, count + 1)]}


class Judge(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        system, user = (message["content"] for message in asked["messages"])
        text = json.dumps(verdict(system, user))
        usage = {"prompt_tokens": (len(system) + len(user)) // 4, "completion_tokens": len(text) // 4}
        body = json.dumps({"model": asked["model"], "choices": [{"message": {"content": text}}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    ThreadingHTTPServer(("127.0.0.1", port), Judge).serve_forever()
