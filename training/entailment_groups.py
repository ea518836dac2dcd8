"""Groups of a question, passages and answers that are written here, one JSON object a line, as rows: written/everyday-*.jsonl, and
written/long-*.jsonl, whose passages are mostly rows of the training data and are named by their ids."""

import gzip
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent


HARD = ("na", "nb", "nc", "nd", "ne")  # minimal pairs of what was still read wrongly
FRESH = tuple(f"o{letter}" for letter in "abcdefghijklmn")  # pairs of answers for what two networks still read wrongly
BOUND = tuple(f"p{letter}" for letter in "abcdefg")          # what belongs to what: swapped values and roles, conditions, the wrong passage
LATER = tuple(f"q{letter}" for letter in "abcd")             # roles, values, conditions and combinations again: nothing has learned from them yet
LATEST = ("wq", "wr", "ws", "wt", "wu", *HARD, *FRESH, *BOUND)  # of these, written last, a fifth of the groups is only reported


def held_out(group):
    name, _, number = group.partition("-")
    return name in LATER or name in LATEST and int(number) % 5 == 0


def family(group):
    """Which of the families of groups that were written for what was still read wrongly."""
    name = group.partition("-")[0]
    return "later" if name in LATER else "bound" if name in BOUND else "fresh" if name in FRESH else "hard"


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


def long_held_out(group):
    return int(group.partition("-")[2]) % 5 == 0


def passages(groups, traindata):
    """{(file, id, field): text} of what the groups name."""
    wanted = {}
    for group in groups:
        for p in group["passages"]:
            if "file" in p:
                wanted.setdefault(p["file"], set()).add(p["id"])
    out = {}
    for name, ids in wanted.items():
        with gzip.open(traindata / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["id"] in ids:
                    for field in ("context", "answer"):
                        found = row.get(field)
                        if found:
                            out[name, row["id"], field] = found if isinstance(found, str) else " ".join(found)
    return out


def joined(sentences):
    """The answer, with its list items on lines of their own, and where each sentence stands in it."""
    text, places = "", []
    for one in sentences:
        part = one["s"].strip()
        is_item = part[:2] in ("- ", "* ") or part[:1].isdigit() and part[1:3] == ". "
        text += ("" if not text else "\n" if is_item else " ") + part
        places.append((len(text) - len(part), len(text)))
    return text, places


def long_rows(traindata, folder=HERE / "written"):
    """Rows of long answers: as `rows`, with where nothing is claimed."""
    groups = [json.loads(line) for path in sorted(folder.glob("long-*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    texts, out = passages(groups, traindata), []
    for group in groups:
        context = [p["text"] if "text" in p else texts[p["file"], p["id"], p["field"]] for p in group["passages"]]
        for i, answer in enumerate(group["answers"]):
            text, places = joined(answer["sentences"])
            spans, silent = [], []
            for one, (start, end) in zip(answer["sentences"], places):
                if one["y"] is None:
                    silent.append({"start": start, "end": end})
                elif one["y"] == 0:
                    found = [(one["s"].strip().find(w), len(w)) for w in one["w"]]
                    spans += [{"start": start + at, "end": start + at + size} for at, size in found if at >= 0] or [{"start": start, "end": end}]
            out.append({"id": f"{group['group']}-{i}", "group": group["group"], "context": context, "question": group["turns"][-1], "answer": text,
                        "label": int(bool(spans)), "label_raw": answer["kind"], "spans": spans or None, "silent": silent,
                        "domain": group["domain"], "lang": "en"})
    return out
