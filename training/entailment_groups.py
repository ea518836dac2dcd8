"""Groups of a question, passages and answers that are written here, one JSON object a line (written/everyday-*.jsonl), as rows."""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent


LATEST = ("wq", "wr", "ws", "wt", "wu")  # of these, written last, a fifth of the groups is only reported


def held_out(group):
    name, _, number = group.partition("-")
    return name in LATEST and int(number) % 5 == 0


def rows(folder=HERE / "written"):
    """Rows as those of the everyday data: an answer with its label, kind, and where it is wrong."""
    out = []
    for path in sorted(folder.glob("everyday-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            group = json.loads(line)
            for i, answer in enumerate(group["answers"]):
                starts = [(answer["text"].find(part), len(part)) for part in answer.get("wrong", [])]
                spans = [{"start": at, "end": at + size} for at, size in starts if at >= 0]
                out.append({"id": f"{group['group']}-{i}", "group": group["group"], "context": group["context"], "question": group["question"],
                            "answer": answer["text"], "label": int(bool(answer.get("wrong"))), "label_raw": answer["kind"],
                            "spans": spans or None, "domain": group["domain"], "lang": "en"})
    return out
