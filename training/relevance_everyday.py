"""The third stage of the relevance model: everyday questions with answers, answers to another question about the same thing, and evasions.

Sources: `everyday_written` (answers that address the question, another question, or nothing), the groups of `written/everyday-*` (their
faithful answers), sentences of a group's passages that are far from each of its answers (the same thing, but not what was asked) or
nearly one of them, answers of a neighbouring group, and MedQuAD (long answers).
"""

import gzip
import json
import random
from collections import defaultdict

import entailment_features as ef
import entailment_groups as eg
import entailment_public as public
import relevance_pairs as rp

FAR, NEAR = 0.45, 0.8  # cosines of a passage's sentence with the nearest answer
MOST = 3               # sentences of a kind from one group
MEDICAL = 5000
TRUE = ("faithful_close", "faithful_paraphrase", "faithful_partial", "faithful_combined", "faithful_computed", "faithful_styled")


def read(data, name):
    with gzip.open(data / "answer_relevance" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def addressed(rows):
    """Items of the rows that were labelled for relevance."""
    kind = lambda r: {"other_question": "everyday-other", "evasive": "everyday-evasive"}.get(r["label_raw"], "everyday-answer")
    return [rp.Item(1, r["question"], r["answer"], r["label"], kind(r), r["group"]) for r in rows]


def passages(rows, vectors, rng):
    """Sentences of passages as answers, by how near they are to an answer that is right."""
    groups, out = defaultdict(list), []
    for r in rows:
        if r["label"] == 0 and r["label_raw"] in TRUE:
            groups[r["group"]].append(r)
    texts = {s for found in groups.values() for s in ef.context_sentences(found[0]["context"])}
    vectors.add(texts | {r["answer"] for found in groups.values() for r in found}, "passages")
    for group, found in groups.items():
        said = ef.context_sentences(found[0]["context"])
        near = (vectors(said) @ vectors([r["answer"] for r in found]).T).max(1)
        question = found[0]["question"]
        far = [s for s, v in zip(said, near) if v < FAR and len(ef.words(s)) > 5]
        close = [s for s, v in zip(said, near) if v > NEAR]
        out += [rp.Item(1, question, s, 0, "everyday-passage-far", group) for s in rng.sample(far, min(MOST, len(far)))]
        out += [rp.Item(1, question, s, 1, "everyday-passage-near", group) for s in rng.sample(close, min(MOST, len(close)))]
    return out


def faithful(rows, known):
    """Answers of the groundedness rows that are right, which the labelled rows do not have."""
    return [rp.Item(1, r["question"], r["answer"], 1, "everyday-faithful", r["group"]) for r in rows
            if r["label"] == 0 and r["label_raw"] in TRUE and (r["question"], r["answer"]) not in known]


def swapped(items, rng):
    """The answer of another group of the same author: easy, but it keeps the style of answers from deciding."""
    good = [x for x in items if x.label == 1]
    out = []
    for x in rng.sample(good, len(good) // 3):
        y = rng.choice(good)
        if y.group != x.group:
            out.append(rp.Item(1, x.question, y.text, 0, "everyday-swapped", x.group))
    return out


def items(data, vectors, seed=7):
    """{"train", "choosing", "held"}: lists of Item. Held groups are those of the entailment model's report."""
    rng = random.Random(f"everyday-relevance-{seed}")
    grounded = public.rows_of(data, "everyday_written")
    held, choosing = public.folds(grounded)
    labelled = addressed(read(data, "everyday_written"))
    known = {(x.question, x.text) for x in labelled}
    train_rows = [r for r in grounded if r["group"] not in held and r["group"] not in choosing]
    train_rows += [r for r in eg.rows() if not eg.held_out(r["group"])]
    made = passages(train_rows, vectors, rng) + faithful(train_rows, known)
    train = [x for x in labelled if x.group not in held and x.group not in choosing]
    made += swapped(train, rng)
    medical = [rp.Item(1, r["question"], r["answer"], r["label"], "medical", r["group"]) for r in read(data, "medquad")]
    return {"train": train, "made": made, "medical": rng.sample(medical, MEDICAL),
            "choosing": [x for x in labelled if x.group in choosing], "held": [x for x in labelled if x.group in held]}
