"""The description and the answers of an evaluator, over pipes and over HTTP."""

import io
import json
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from groundline_evaluator import Metric, Score, evaluator  # noqa: E402
from groundline_evaluator._command import found  # noqa: E402
from groundline_evaluator._serve import http_server, serve_lines  # noqa: E402


@evaluator(version="2", metrics=[Metric("politeness", threshold=0.5), Metric("promise", better="lower")])
def tone(answer, question=None):
    if answer == "raise":
        raise RuntimeError("no model")
    value = float("nan") if answer == "nan" else 0.75
    return {"politeness": Score(value, label=question), "promise": answer != "tomorrow"}


@evaluator(version="1")
def length(answer):
    return len(answer)


class Description(unittest.TestCase):
    def test_the_signature_names_the_inputs(self):
        told = tone.describe()
        self.assertEqual(told["inputs"], ["answer", "question?"])
        self.assertEqual((told["protocol"], told["name"], told["version"]), (1, "tone", "2"))
        self.assertEqual(told["metrics"][1], {"name": "promise", "better": "lower", "threshold": None})
        self.assertEqual(length.describe()["metrics"][0]["name"], "length")
        self.assertEqual(length(answer="abc"), 3)

    def test_what_cannot_be_described_is_told_at_once(self):
        for function, part in [
            (lambda anser: 1, "'anser' is no input"),
            (lambda: 1, "asks for nothing"),
            (lambda *answer: 1, "inputs are named"),
        ]:
            with self.assertRaisesRegex(TypeError, part):
                evaluator(version="1")(function)
        with self.assertRaisesRegex(ValueError, "version"):
            evaluator(version="")(lambda answer: 1)
        with self.assertRaisesRegex(ValueError, "name of its own"):
            evaluator(version="1", metrics=[Metric("a"), Metric("a")])(lambda answer: 1)
        with self.assertRaisesRegex(ValueError, "'up'"):
            Metric("a", better="up")


class Answers(unittest.TestCase):
    def test_scores_are_told_by_metric(self):
        told = tone.score({"id": "1", "answer": "x", "question": "q"})
        self.assertEqual(
            told,
            {
                "id": "1",
                "scores": [
                    {"metric": "politeness", "value": 0.75, "label": "q"},
                    {"metric": "promise", "passed": True},
                ],
            },
        )
        self.assertEqual(length.score({"id": "2", "answer": "abc"})["scores"], [{"metric": "length", "value": 3.0}])

    def test_a_verdict_of_another_library_is_no_number(self):
        class bool_:  # as numpy's, which is no subclass of bool and has a float
            def __bool__(self):
                return False

            def __float__(self):
                return 0.0

        @evaluator(version="1")
        def polite(answer):
            return bool_()

        self.assertEqual(polite.score({"id": "1", "answer": "x"})["scores"], [{"metric": "polite", "passed": False}])

    def test_what_is_missing_is_skipped(self):
        told = tone.score({"id": "1", "question": "q"})
        self.assertEqual([score["skipped"] for score in told["scores"]], ["answer", "answer"])

    def test_what_fails_is_an_error_and_no_score(self):
        errors, sys.stderr = sys.stderr, io.StringIO()
        try:
            told = tone.score({"id": "1", "answer": "raise"})
            self.assertIn("test_evaluator.py", sys.stderr.getvalue())
        finally:
            sys.stderr = errors
        self.assertEqual(told, {"id": "1", "error": "RuntimeError: no model"})
        nan = tone.score({"id": "1", "answer": "nan"})["scores"]
        self.assertIn("finite", nan[0]["error"])
        self.assertEqual(nan[1], {"metric": "promise", "passed": True})

    def test_a_result_that_is_none_is_an_error(self):
        @evaluator(version="1")
        def words(answer):
            return answer

        errors, sys.stderr = sys.stderr, io.StringIO()
        try:
            self.assertIn("str is no number", words.score({"id": "1", "answer": "x"})["error"])
        finally:
            sys.stderr = errors


class Process(unittest.TestCase):
    def test_lines_are_answered_in_order_and_garbage_is_left_out(self):
        lines = ['{"type":"describe","protocol":1}', "", "garbage", '[1]', '{"id":"a","answer":"x"}']
        answers, errors, sys.stderr = io.StringIO(), sys.stderr, io.StringIO()
        try:
            serve_lines(length, io.BytesIO("\n".join(lines).encode()), answers)
        finally:
            sys.stderr = errors
        told = [json.loads(line) for line in answers.getvalue().splitlines()]
        self.assertEqual([one.get("type", one.get("id")) for one in told], ["description", "a"])

    def test_the_example_answers_and_ends_with_its_input(self):
        item = {"id": "é", "answer": "It ships tomorrow, stupid."}
        lines = json.dumps({"type": "describe", "protocol": 1}) + "\n" + json.dumps(item) + "\n"
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples/tone.py")],
            input=lines.encode(),
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(ROOT)},
            check=True,
        )
        description, answer = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(description["inputs"], ["answer"])
        self.assertEqual(answer["id"], "é")
        self.assertEqual([score.get("value", score.get("passed")) for score in answer["scores"]], [0.5, False])

    def test_what_is_printed_is_no_answer(self):
        program = (
            "import os, subprocess\n"
            "from groundline_evaluator import evaluator\n"
            "print('loading')\n"
            "@evaluator(version='1')\n"
            "def noisy(answer):\n"
            "    print('judging'); os.write(1, b'from below\\n'); subprocess.run(['echo', 'from a child'])\n"
            "    return 1.0\n"
            "noisy.run([])\n"
        )
        done = subprocess.run(
            [sys.executable, "-u", "-c", program],
            input=b'{"id":"a","answer":"x"}\n',
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            check=True,
        )
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], b"loading")
        self.assertEqual([json.loads(line)["id"] for line in lines[1:]], ["a"])
        self.assertEqual(done.stderr.splitlines(), [b"judging", b"from below", b"from a child"])


class Http(unittest.TestCase):
    def setUp(self):
        self.server = http_server(length, ("127.0.0.1", 0), "secret")
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def ask(self, path, body=None, token="secret"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def test_a_batch_is_answered(self):
        status, told = self.ask("/describe")
        self.assertEqual((status, told["name"]), (200, "length"))
        items = [{"id": str(n), "answer": "x" * n} for n in range(3)]
        status, told = self.ask("/score", {"protocol": 1, "items": items})
        self.assertEqual((status, told["version"]), (200, "1"))
        self.assertEqual([answer["scores"][0]["value"] for answer in told["answers"]], [0.0, 1.0, 2.0])

    def test_what_is_not_as_agreed_is_refused(self):
        for path, body, token, status in [
            ("/describe", None, "other", 401),
            ("/other", None, "secret", 404),
            ("/score", {"protocol": 2, "items": []}, "secret", 400),
            ("/score", {"items": []}, "secret", 400),
            ("/score", {"protocol": 1, "items": [1]}, "secret", 400),
        ]:
            found, told = self.ask(path, body, token)
            self.assertEqual(found, status, told)
            self.assertTrue(told["error"])


class Command(unittest.TestCase):
    def found(self, text, name=""):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mine.py"
            path.write_text("from groundline_evaluator import evaluator\n" + text)
            return found(f"{path}{name}")

    def test_the_evaluator_of_a_file_is_found(self):
        one = "@evaluator(version='1')\ndef one(answer): return 1\n"
        self.assertEqual(self.found(one + "other_name = one\n").name, "one")
        two = one + "@evaluator(version='1')\ndef two(answer): return 1\n"
        self.assertEqual(self.found(two, ":two").name, "two")
        for text, name, part in [("", "", "has no evaluator"), (two, "", "has one, two: name one"), (two, ":three", "it has one, two")]:
            with self.assertRaisesRegex(LookupError, part):
                self.found(text, name)
        with self.assertRaisesRegex(LookupError, "is no file"):
            found("nowhere.py")

    def test_what_cannot_be_run_is_told(self):
        for arguments, part in [
            (["examples/tone.py", "--http", "x"], "'x' is no"),
            (["examples/tone.py", "--http", "0", "--grpc", "0"], "not allowed with"),
            (["nowhere.py"], "is no file"),
        ]:
            command = [sys.executable, "-m", "groundline_evaluator", *arguments]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, part in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
