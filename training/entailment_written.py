"""The written claims (training/written) as pairs for the cross-encoder, and as answers for the combiner."""

import random

import entailment_features as ef
import entailment_pairs as ep
import written_pairs

MOST_CLAIMS, MOST_ANSWERS = 150, 90  # of each held-out set
LONG_ANSWERS = {"answers", "summary", "encyclopedia", "balanced-support", "balanced-technical", "balanced-professional", "balanced-rag"}
NEAR, WIDE = (96, 128), (128, 180)  # windows (tokens) of unsupported claims, and of supported ones: these need all their evidence
LABEL = {"entailed": ep.ENTAIL, "empty": ep.ENTAIL, "contradicted": ep.CONTRA, "unstated": ep.NEUTRAL}


def pairs(tokens, vectors, seed=7):
    """Pairs of each claim with the windows of the product, of answers of two or three claims, and of sentences that stand in the context."""
    rng, out, found = random.Random(f"written-{seed}"), [], []
    for block in written_pairs.everything("claims"):
        parts = ef.context_sentences(block.context)
        texts = [(c.text, LABEL[c.kind], c.kind, c.marks) for c in block.claims] + joined(rng, block.claims)
        said = [s for s in parts if len(ef.words(s)) >= 5]
        texts += [(s, ep.ENTAIL, "verbatim", []) for s in rng.sample(said, min(1, len(said)))]
        found.append((block, parts, texts))
    vectors.add({t for _, parts, texts in found for t in (*parts, *(x[0] for x in texts))}, "written")
    for block, parts, texts in found:
        context = ef.Context(parts, [len(tokens.plain(s).ids) for s in parts], vectors(parts))
        for number, (text, label, kind, marks) in enumerate(texts):
            windows = [ef.window(context, text, limit)[0] for limit in (WIDE if label == ep.ENTAIL else NEAR)]
            for premise in sorted({" ".join(parts[i] for i in window) for window in windows}):
                out.append(ep.Pair(premise, text, label, f"written-{block.genre}-{kind}", block.group,
                                   marks or ([] if label == ep.ENTAIL else None), 0.5 if kind == "empty" else 1.0, f"{block.group}/{number}"))
    return out


def joined(rng, claims):
    """Short answers of two or three claims of a block, of which none or one is unsupported."""
    good, bad = ([c for c in claims if (LABEL[c.kind] == ep.ENTAIL) == right] for right in (True, False))
    out = []
    for wrong in [None, rng.choice(bad)] if bad and len(good) > 3 else []:
        chosen = rng.sample(good, rng.choice([1, 2]) + (wrong is None)) + ([wrong] if wrong else [])
        rng.shuffle(chosen)
        text, marks = "", []
        for c in chosen:
            marks += [(a + len(text), b + len(text)) for a, b in c.marks]
            text += c.text + " "
        label = ep.ENTAIL if wrong is None else ep.CONTRA if wrong.kind == "contradicted" else ep.UNSUPPORTED
        out.append((text.strip(), label, "joined", marks))
    return out


def answers(seed):
    """{set: [(context, sentences of the answer, label)]} of the held-out blocks: single claims, and answers of several sentences,
    of which none or one is unsupported."""
    rng, out = random.Random(f"answers-{seed}"), {}
    for block in written_pairs.everything("claims"):
        if not ep.held_out(block.group):
            continue
        good = [c for c in block.claims if LABEL[c.kind] == ep.ENTAIL]
        bad = [c for c in block.claims if LABEL[c.kind] != ep.ENTAIL]
        for c in good + bad:
            if c.kind != "empty":
                out.setdefault(f"claims-{block.genre}", []).append((block.context, [c.text], int(c in bad)))
        if block.genre not in LONG_ANSWERS:
            continue
        for wrong in [*bad, *[None] * len(bad)]:
            chosen = rng.sample(good, min(len(good), rng.choice([2, 3, 4, 5, 6]) - (wrong is not None)))
            texts = [c.text for c in chosen] + ([wrong.text] if wrong else [])
            rng.shuffle(texts)
            if texts:
                out.setdefault(f"answers-{block.genre}", []).append((block.context, texts, int(wrong is not None)))
    return {name: rng.sample(rows, min(len(rows), MOST_CLAIMS if name.startswith("claims") else MOST_ANSWERS)) for name, rows in out.items()}
