"""Pairs of the third stage: public entailment data, everyday answers written for this purpose, and what the stages before used.

Each source counts by its share and not by its size, and in each source supported and unsupported pairs are equally many.
150 groups of the everyday answers (whole domains, of every author) are only for the report; some others only for the combiner.
"""

import gzip
import hashlib
import json
import random
from collections import defaultdict

import entailment_contrast as contrast
import entailment_features as ef
import entailment_groups as eg
import entailment_pairs as ep
import entailment_plain as plain
import entailment_rules as rules
import entailment_written as ew

HELD_GROUPS, DOMAINS_HELD, CHOOSING_GROUPS = 150, 2, 7
WINDOWS = (128, 192)  # tokens, of public sets; the shorter one is cheaper, the model bears both
OWN_WINDOWS = (ef.WINDOW_TOKENS,)  # of everyday answers: as the product reads them
LONGEST = 200         # tokens of a premise

# Of a hundred pairs so many come from each source.
SHARES = {"everyday": 40, "hard": 50, "fresh": 60, "bound": 80, "written": 30, "conjnli": 8, "wanli": 14, "mnli_taxinli": 9, "infotabs": 6, "cad_snli": 5, "disco_counterfactual": 4,
          "fool_me_twice": 8, "fm2_packed": 1.5, "condaqa_yesno": 5, "oanc_mcq": 3, "negation_nli": 1, "breaking_nli": 1.5, "scone": 1,
          "help_monotonicity": 1, "halueval_qa_rest": 2, "halueval_summarization_rest": 2, "labelled": 18, "made": 12, "contrast": 8, "plain": 8, "rules": 12,
          "long": 36}
BY_RULE = {"contrast": (contrast.pairs, 9000), "plain": (plain.pairs, 9000), "rules": (rules.pairs, 9000)}  # made anew when they are wanted
OURS = ("everyday", "hard", "fresh", "bound", "written", "labelled", "made", "long", *BY_RULE)        # not files of public data
GROUPS = ("everyday", "hard", "fresh", "bound")                                     # questions with passages and answers, by hand
RAW = {"entailment": ep.ENTAIL, "neutral": ep.NEUTRAL, "contradiction": ep.CONTRA, "SUPPORTS": ep.ENTAIL, "REFUTES": ep.CONTRA}
PACKED = {"conjnli": 0.2, "wanli": 0.15, "mnli_taxinli": 0.2, "cad_snli": 0.1, "negation_nli": 0.1, "infotabs": 0.0}
OPENINGS = ["According to the documents, ", "Based on the context, ", "The documents say that ", "According to the provided context, "]


def rows_of(data, name):
    with gzip.open(data / "groundedness" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def order(text):
    return hashlib.sha256(f"everyday-{text}".encode()).hexdigest()


def folds(rows):
    """(groups that are only reported, groups that only choose): whole domains of each author first, then single groups."""
    domains = defaultdict(lambda: defaultdict(set))
    for r in rows:
        domains[r["group"].split("-")[0]][r["domain"]].add(r["group"])
    held, choosing = [], []
    for author, found in sorted(domains.items()):
        names = sorted(found, key=lambda d: order(author + d))
        held += [g for d in names[:DOMAINS_HELD] for g in found[d]]
        rest = sorted((g for d in names[DOMAINS_HELD:] for g in found[d]), key=order)
        choosing += rest[:CHOOSING_GROUPS]
    held.sort(key=order)
    return set(held[:HELD_GROUPS]), set(choosing) | set(held[HELD_GROUPS:])


def parts_of(text, marks):
    """The sentences of an answer, each with the marks that lie in it."""
    out, at = [], 0
    for s in ef.sentences(text):
        start = text.find(s, at)
        if start < 0:
            continue
        at = start + len(s)
        out.append((s, [(max(a, start) - start, min(b, at) - start) for a, b in marks if a < at and b > start]))
    return out


class Chooser:
    """Windows as the product chooses them."""

    def __init__(self, tokens):
        self.tokens, self.known = tokens, {}

    def context(self, context):
        key = json.dumps(context)
        if key not in self.known:
            parts = ef.context_sentences(context) or [str(context)]
            passages = ef.passage_numbers(context) or [0]
            self.known[key] = ef.Context(parts, [len(self.tokens.plain(p).ids) for p in parts], passages=passages)
        return self.known[key]

    def premise(self, context, text, limit, question=""):
        found = self.context(context)
        return found.text(ef.window(found, text, limit, question)[0])


def everyday(rows, tokens):
    """{row: its variants}: the answer at once and its sentences, in the windows of the product."""
    chooser, out = Chooser(tokens), []
    for r in rows:
        marks = [(s["start"], s["end"]) for s in r["spans"] or []]
        whole = [(r["answer"], marks)]
        single = parts_of(r["answer"], marks)
        is_short = len(ef.words(r["answer"])) <= ef.SHORT_WORDS
        variants = {"whole": [], "part": []}
        for kind, texts in (("whole", whole), ("part", single if len(single) > 1 else [])):
            for text, inside in texts:
                label = ep.UNSUPPORTED if r["label"] and (inside or kind == "whole") else ep.ENTAIL
                if r["label"] and not marks and kind == "part" or len(ef.words(text)) < 3 and kind == "part":
                    continue
                for premise in sorted({chooser.premise(r["context"], text, limit, r["question"] or "") for limit in OWN_WINDOWS}):
                    variants[kind].append(ep.Pair(premise, text, label, f"everyday-{r['label_raw']}", r["group"],
                                                  inside if inside or label == ep.ENTAIL else None, row=r["id"]))
        out.append((r, is_short, variants))
    return out


def long_pairs(rows, tokens, seed=7):
    """(pairs to learn from, pairs of the groups that are only reported): the sentences of long answers that claim something."""
    rng, chooser, learned, aside = random.Random(f"long-{seed}"), Chooser(tokens), [], []
    for r in rows:
        marks = [(s["start"], s["end"]) for s in r["spans"] or []]
        silent = [(s["start"], s["end"]) for s in r["silent"]]
        said = parts_of(r["answer"], silent)
        for (text, inside), (_, quiet) in zip(parts_of(r["answer"], marks), said):
            if quiet or len(ef.words(text)) < 3:
                continue
            label = ep.UNSUPPORTED if inside else ep.ENTAIL
            for premise in sorted({chooser.premise(r["context"], text, limit, r["question"] or "") for limit in OWN_WINDOWS}):
                pair = ep.Pair(premise, text, label, f"long-{r['label_raw']}", r["group"], inside, row=r["id"])
                is_aside = eg.long_held_out(r["group"])
                (aside if is_aside else learned).append(pair if is_aside else spoken(rng, pair, r["question"]))
        chooser.known.clear() if len(chooser.known) > 500 else None
    return learned, aside


def spoken(rng, pair, question):
    """As an assistant writes it, now and then: with the question before it, an opening, a citation."""
    text, marks, roll = pair.hypothesis, pair.marks, rng.random()
    shift = 0
    if roll < 0.04:
        opening = rng.choice(OPENINGS)
        text, shift = opening + text[:1].lower() + text[1:], len(opening)
    elif roll < 0.08:
        text += rng.choice([" [1]", " [2]", " [1, 2]"])
    if question and rng.random() < 0.5:
        text, shift = f"{question} {text}", shift + len(question) + 1
    marks = None if marks is None else [(a + shift, b + shift) for a, b in marks]
    return ep.Pair(pair.premise, text, pair.label, pair.kind, pair.group, marks, pair.weight, pair.row)


def public(data, name, tokens, rng):
    """Pairs of a public set; question and answer stand together where the answer alone says nothing."""
    chooser, out = Chooser(tokens), []
    rows = rows_of(data, name)
    for r in rows:
        label = RAW.get(r["label_raw"], ep.UNSUPPORTED if r["label"] else ep.ENTAIL)
        if (label == ep.ENTAIL) != (r["label"] == 0):
            label = ep.UNSUPPORTED if r["label"] else ep.ENTAIL
        if name == "condaqa_yesno" and r["label"] and r["label_raw"] in ("YES", "NO"):
            label = ep.CONTRA
        if name == "fm2_packed" and r["label"]:
            label = ep.CONTRA
        marks = [] if label == ep.ENTAIL else [(s["start"], s["end"]) for s in r["spans"] or []] or None
        text, shift = r["answer"], 0
        if r.get("question") and name in ("condaqa_yesno", "oanc_mcq", "halueval_qa_rest"):
            text, shift = f"{r['question']} {text}", len(r["question"]) + 1
        marks = None if marks is None else [(a + shift, b + shift) for a, b in marks]
        limit = rng.choice(WINDOWS)
        if name == "halueval_summarization_rest":
            sentences = ef.sentences(text)
            if label == ep.ENTAIL:
                text = rng.choice(sentences or [text])  # each sentence of a right summary is right
        premise = chooser.premise(r["context"], text, limit)
        out.append(ep.Pair(premise, text, label, name, r["group"], marks, row=r["id"]))
        chooser.known.clear() if len(chooser.known) > 500 else None
    return out


def packed(rng, pair, others):
    """The premise among sentences of other rows."""
    more, size = [pair.premise], len(pair.premise.split())
    for other in rng.sample(others, 4):
        if other.group != pair.group and size + len(other.premise.split()) <= 110:
            more.append(other.premise)
            size += len(other.premise.split())
    rng.shuffle(more)
    return ep.Pair(" ".join(more), pair.hypothesis, pair.label, pair.kind, pair.group, pair.marks, pair.weight, pair.row)


class Cycle:
    """Goes round a list, in another order each time."""

    def __init__(self, items, rng):
        self.items, self.rng, self.left = list(items), rng, []

    def next(self):
        if not self.left:
            self.left = self.items[:]
            self.rng.shuffle(self.left)
        return self.left.pop()


def pick_everyday(rng, item):
    r, is_short, variants = item
    use_whole = rng.random() < (0.75 if is_short else 0.25) or not variants["part"]
    return spoken(rng, rng.choice(variants["whole" if use_whole else "part"]), r["question"])


def source_of(group):
    """Which of GROUPS a group of answers counts to."""
    found = eg.family(group)
    return "everyday" if found == "hard" and group.partition("-")[0] not in eg.HARD else found


def parts(pairs, everyday_items, size, count, seed=7):
    """`count` lists of `size` pairs, each with the same mix."""
    rng = random.Random(f"mix-{seed}")
    pairs = pairs | {name: make(count, seed) for name, (make, count) in BY_RULE.items()}
    total = sum(SHARES.values())
    cycles = {}
    for name, found in pairs.items():
        for right in (True, False):
            cycles[name, right] = Cycle([p for p in found if (p.label == ep.ENTAIL) == right], rng)
    for right in (True, False):
        for name in GROUPS:
            of = [x for x in everyday_items if (x[0]["label"] == 0) == right and source_of(x[0]["group"]) == name]
            cycles[name, right] = Cycle(of, rng)
    out = []
    for _ in range(count):
        part = []
        for name, share in SHARES.items():
            for i in range(round(size * share / total)):
                item = cycles[name, i % 2 == 0].next()
                if name in GROUPS:
                    item = pick_everyday(rng, item)
                elif rng.random() < PACKED.get(name, 0):
                    item = packed(rng, item, pairs[name])
                part.append(item)
        out.append(part)
    return out


def collected(data, evaluation, tokens, vectors, made=9000, facts=4000, seed=7):
    """{"pairs": {source: pairs}, "train", "choosing", "held", "aside", "fresh", "bound", "later": everyday items, "kept", "long_aside": held-out pairs}."""
    rng = random.Random(f"public-{seed}")
    rows = rows_of(data, "everyday_written")
    held, choosing = folds(rows)
    items = everyday(rows, tokens)
    pairs = {}
    for name in SHARES:
        if name not in OURS:
            pairs[name] = public(data, name, tokens, rng)
            print(name, len(pairs[name]), flush=True)
    written = ew.pairs(tokens, vectors)
    pairs["written"] = [p for p in written if not ep.held_out(p.group)]
    texts = set()
    for name in ("fever_symmetric", "begin", "wice_claim", "wice_tokens"):
        for r in ep.load_rows(evaluation, f"groundedness/{name}"):
            texts |= {*ef.context_sentences(r["context"]), *ef.sentences(r["answer"]), r["answer"]}
    vectors.add(texts, "labelled")
    labelled = ep.labelled(evaluation, vectors, tokens)
    pairs["labelled"] = [p for p in labelled if not ep.held_out(p.group)]
    ep.COMPOUND = True
    docs = [d for d in ep.documents(evaluation) if not ep.held_out(d.group)]
    pairs["made"] = ep.from_documents(docs, made, seed + 3, harder=True) + ep.invented(facts, seed + 3)
    pairs["long"], long_aside = long_pairs(eg.long_rows(data), tokens, seed)
    of = lambda groups: [x for x in items if x[0]["group"] in groups]
    rest = {r["group"] for r in rows} - held - choosing
    kept = [p for p in labelled + written if ep.held_out(p.group)]
    ours = everyday(eg.rows(), tokens)
    learned = [x for x in ours if not eg.held_out(x[0]["group"])]
    aside, fresh, bound, later = ([x for x in ours if eg.held_out(x[0]["group"]) and eg.family(x[0]["group"]) == f] for f in ("hard", "fresh", "bound", "later"))
    return {"pairs": pairs, "train": of(rest) + learned, "choosing": of(choosing), "held": of(held), "aside": aside, "fresh": fresh, "bound": bound, "later": later, "kept": kept,
            "long_aside": long_aside}
