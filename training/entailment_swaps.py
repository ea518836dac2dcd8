"""True answers by hand, over their passages and over the same passages with two names or two numbers exchanged.

An exchange in passages and answer alike changes nothing of what is true; in one of both alone it makes the answer false, wherever the two differ in what
is said of them. So each true answer gives four pairs of a context and an answer, two true and two false, whose words are the same:

    (context, answer), (exchanged, exchanged answer)    true
    (exchanged, answer), (context, exchanged answer)    false

Some are wrong: of two that did the same, or where a number is a heading's. How many was not counted.
"""

import random
import re

import entailment_features as ef
import entailment_pairs as ep
import entailment_public as public
import entailment_verdict as verdict

_TITLES = {"mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "prof", "professor", "nurse", "captain", "judge", "aunt", "uncle"}
_DATES = set("""monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april may june july august september
october november december jan feb mar apr jun jul aug sep sept oct nov dec""".split())
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:]\d+)*(?![\w:/-]|[.,]\d)")
_NAME = re.compile(r"[A-Z][^\W\d_]+(?:[ -][A-Z][^\W\d_]+)*")
_MOST_TIMES = 3  # a number that stands there more often is no value of one thing


def words_of(name):
    return [w for w in re.split(r"[\s-]+", name) if w.lower() not in _TITLES]


def names(text):
    """Runs of words with a capital that do not begin a sentence, or are there elsewhere where none begins."""
    lower = {m.group().lower() for m in ef.WORD.finditer(text) if m.group()[0].islower()}
    inside, opening = [], []
    for m in _NAME.finditer(text):
        begins = re.search(r"(?:^|[.!?:|\n])[\s'\"()\]*-]*$", text[:m.start()])
        if not words_of(m.group()) or len(m.group()) < 3:
            continue
        (opening if begins else inside).append(m.group())
    known = {w for n in inside for w in words_of(n)}
    plain = lambda n: all(w.lower() in lower or w.lower() in ef.STOP_WORDS or w.lower() in _DATES for w in words_of(n))
    found = [n for n in inside if not plain(n)] + [n for n in opening if set(words_of(n)) & known and not plain(n)]
    out = []
    for n in sorted(dict.fromkeys(found), key=lambda n: -len(n)):
        if not any(set(words_of(n)) & set(words_of(o)) for o in out):
            out.append(n)
    return out


def stands(part, text):
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def exchange(text, table):
    pattern = "|".join(rf"(?<!\w){re.escape(x)}(?!\w)" for x in sorted(table, key=len, reverse=True))
    return re.sub(pattern, lambda m: table[m.group()], text)


def of_names(a, b):
    """Whole names, and their first and last words."""
    x, y = words_of(a), words_of(b)
    table = {x[-1]: y[-1], y[-1]: x[-1]}
    if len(x) > 1 and len(y) > 1:
        table |= {x[0]: y[0], y[0]: x[0]}
    return table | {a: b, b: a}


def tables(context, answer):
    """[(kind, what becomes what)]: exchanges that touch the answer, those of two that both stand in it first."""
    out, found = [], names(context)
    said = [n for n in found if stands(words_of(n)[-1], answer)]
    for a in said:
        for b in found:
            if a != b and len(words_of(a)) == len(words_of(b)) and (b not in said or said.index(a) < said.index(b)):
                out.append((b in said, "swap-name", of_names(a, b)))
    there = _NUMBER.findall(context)
    numbers = [n for n in dict.fromkeys(there) if there.count(n) <= _MOST_TIMES]
    told = [n for n in numbers if n in _NUMBER.findall(answer)]
    for a in told:
        for b in numbers:
            if a != b and abs(len(a) - len(b)) <= 1 and (b not in told or told.index(a) < told.index(b)):
                out.append((b in told, "swap-number", {a: b, b: a}))
    return out


def pairs(rows, tokens, seed=7, most=2):
    """Pairs of the true answers among `rows` that are judged at once, of at most `most` exchanges each; four in a row belong together."""
    rng, chooser, out = random.Random(f"swaps-{seed}"), public.Chooser(tokens), []
    for r in rows:
        if r["label"] or len(ef.words(r["answer"])) > ef.SHORT_WORDS:
            continue
        context = r["context"] if isinstance(r["context"], list) else [r["context"]]
        found = tables("\n".join(context), r["answer"])
        rng.shuffle(found)
        read, question = verdict.asked(r, True)
        for _, kind, table in sorted(found, key=lambda x: not x[0])[:most]:
            other, said = [exchange(c, table) for c in context], exchange(r["answer"], table)
            if other == context or said == r["answer"]:
                continue
            for c, text, label in ((context, r["answer"], ep.ENTAIL), (other, r["answer"], ep.UNSUPPORTED), (other, said, ep.ENTAIL), (context, said, ep.UNSUPPORTED)):
                out.append(ep.Pair(chooser.premise(c, text, ef.WINDOW_TOKENS, question), f"{read} {text}" if read else text, label, kind, r["group"]))
        if len(chooser.known) > 300:
            chooser.known.clear()
    return out
