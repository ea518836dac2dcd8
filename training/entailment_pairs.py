"""Training pairs for the entailment model: labelled rows, and pairs made from the sentences of their contexts.

Every made pair has a premise of one to eight sentences and a hypothesis. Changes come in two kinds: wording changes (they keep
the truth: shortened, reordered, synonyms, numbers in words) and one fact change (number, date, name, negation, opposite,
roles, added detail). The same fact change also goes into the premise, or into both, so that neither a strange hypothesis nor
overlap alone gives the label away. Where the changed words are known they are marked, for the token loss.
"""

import difflib
import gzip
import hashlib
import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import entailment_facts as facts
import entailment_features as ef
import entailment_words as ew

ENTAIL, NEUTRAL, CONTRA, UNSUPPORTED = 0, 1, 2, 3  # UNSUPPORTED: neutral or contradiction, which of them is unknown
HELD_OUT = 17  # percent of the groups


@dataclass
class Pair:
    premise: str
    hypothesis: str
    label: int
    kind: str
    group: str
    marks: object = None       # character ranges of the hypothesis that are not supported; None = unknown
    weight: float = 1.0
    row: str = ""


def load_rows(data, name, splits=("train", "dev")):
    with gzip.open(Path(data) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [r for r in map(json.loads, lines) if r["split"] in splits]


def held_out(group):
    return int(hashlib.sha256(f"entailment|{group}".encode()).hexdigest()[:8], 16) % 100 < HELD_OUT


def tidy(text):
    """Undoes the spaces of tokenised text."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" ([.,;:!?%)\]])", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    return text.replace("-LRB-", "(").replace("-RRB-", ")").replace(" -- ", " - ")


def loose(text):
    """Tokenised text, as some sets have it."""
    return re.sub(r"\s+", " ", re.sub(r"([.,;:!?()])(?=\s|$)", r" \1", re.sub(r"('s|n't)\b", r" \1", text)))


# ------------------------------------------------------------------------------------------- wording changes (truth kept)

NUM = re.compile(r"(?<![\w.,$€£#-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w]|[.,-]\d)")
YEAR = re.compile(r"\b(1[5-9]\d\d|20[0-3]\d)\b")
WORDS_OF = {v: k for k, v in ef.NUMBER_WORDS.items()}
ENTITY = re.compile(r"\b[A-Z][\w'’.-]*(?:(?: of| the| de| van| von| and)? [A-Z][\w'’.-]*)*")
AUX = re.compile(r"\b(is|are|was|were|has|have|had|will|would|can|could|should|does|did|do)\b(?! not| no\b|n't)")


def cap(text):
    return text[:1].upper() + text[1:]


def uncap(text):
    first = text.split(" ", 1)[0]
    keep = first == "I" or first[1:] != first[1:].lower() or first.rstrip(",") not in COMMON_STARTS
    return text if keep else text[:1].lower() + text[1:]


COMMON_STARTS = set("The A An In On At For From With By As If When While After Before However But And So Then Also Although Because Since "
                    "It He She They We This That These Those There His Her Its Their Our My Your Some Many Most All Each Both No During "
                    "Under Over Between Among Despite Several Two Three Four Five One To Not Only Such".split())


def parts_end(text):
    m = re.search(r"[.!?]+[\"'”’)]*$", text)
    return (text[:m.start()], text[m.start():]) if m else (text, "")


def drop_parenthesis(rng, s):
    return re.sub(r"\s*\([^()]*\)", "", s, count=1)


def drop_leading(rng, s):
    m = re.match(r"(?:In|On|At|After|During|Since|By|For|Before|When|While|As|Despite|Although|Following|However|Meanwhile|Also|"
                 r"According|Under|With|From|Then|Later|Now|Today|Additionally|Moreover)\b[^,]{0,60}, (?=\S)", s)
    return cap(s[m.end():]) if m and len(s) - m.end() > 25 else s


def lead_to_end(rng, s):
    m = re.match(r"((?:In|On|At|During|Since|By|For) [^,]{2,40}), (?=\w)", s)
    body, end = parts_end(s)
    return f"{cap(body[m.end():])} {m[1][:1].lower()}{m[1][1:]}{end or '.'}" if m and len(body) - m.end() > 25 else s


def end_to_lead(rng, s):
    body, end = parts_end(s)
    m = re.search(r" ((?:in|on|during|since) (?:[A-Z]\w+ )?(?:\d{1,2}, )?\d{4})$", body)
    return f"{cap(m[1])}, {uncap(body[:m.start()])}{end}" if m else s


def drop_clause(rng, s):
    body, end = parts_end(s)
    m = list(re.finditer(r", (?:which|who|whose|where|while|although|though|but|with|including|as well as|because|since|after|before|"
                         r"when|making|according to|and then|and also|and)\b[^,]*$", body))
    return body[:m[-1].start()] + (end or ".") if m and m[-1].start() > 25 else s


def drop_middle(rng, s):
    m = list(re.finditer(r",( [^,]{4,70}),(?= [a-z])", s))
    m = [x for x in m if x.start() > 8 and not re.search(r"\b(and|or)\b", s[x.start():x.end() + 6])]
    if not m:
        return s
    x = rng.choice(m)
    return s[:x.start()] + s[x.end():]


def drop_tail(rng, s):
    body, end = parts_end(s)
    m = list(re.finditer(r" (?:in|on|at|for|from|with|by|during|since|after|to|of) (?:[^\s,]+ ){0,4}[^\s,]+$", body))
    return body[:m[0].start()] + (end or ".") if m and m[0].start() > 30 and rng.random() < 0.7 else s


def drop_adverb(rng, s):
    m = list(re.finditer(r"(?<= )(?:very|also|quickly|recently|really|largely|currently|officially|originally|eventually|famously|"
                         r"successfully|formally|finally|simply|actually|clearly|already|generally|widely|still) ", s))
    if not m:
        return s
    x = rng.choice(m)
    return s[:x.start()] + s[x.end():]


def synonyms(rng, s, share=0.5):
    def swap(m):
        w = m.group()
        options = ew.SYNONYMS.get(w) or (ew.SYNONYMS.get(w.lower()) if m.start() == 0 else None)
        if not options or rng.random() > share:
            return w
        new = rng.choice(options)
        return cap(new) if w[0].isupper() else new
    return re.sub(r"(?<![\w'’-])[A-Za-z-]+(?![\w'’-])", swap, s)


def contractions(rng, s):
    for long, short in ew.CONTRACTIONS.items():
        if rng.random() < 0.7:
            s = re.sub(rf"\b{long}\b", short, s)
        else:
            s = s.replace(short, long)
    return s


TENS = {int(v): k for k, v in ef.NUMBER_WORDS.items() if int(v) >= 20}
COMPOUND = False  # the second stage also writes 21 to 99 in words


def number_words(rng, s):
    def to_words(m):
        if COMPOUND and m[1].isdigit() and 20 < int(m[1]) < 100 and int(m[1]) % 10 and not re.search(rf"(?:{'|'.join(ew.MONTHS)}) $", s[:m.start()]):
            return f"{TENS[int(m[1]) // 10 * 10]}-{WORDS_OF[str(int(m[1]) % 10)]}"
        return WORDS_OF.get(m[1], m[1])
    if rng.random() < 0.5:
        return NUM.sub(to_words, s)
    return re.sub(r"\b[a-z]+\b", lambda m: ef.NUMBER_WORDS.get(m.group(), m.group()) if m.group() != "one" else "one", s)


def number_forms(rng, s):
    s = re.sub(r"\$(\d[\d.,]*) (million|billion)", lambda m: rng.choice([m[0], f"{m[1]} {m[2]} dollars", f"US${m[1]} {m[2]}"]), s)
    s = re.sub(r"(\d)%", lambda m: rng.choice([m[0], m[1] + " percent", m[1] + " per cent"]), s)
    s = re.sub(r"(\d) (?:percent|per cent)\b", lambda m: rng.choice([m[0], m[1] + "%"]), s)
    s = re.sub(r"\b(\d{1,3}),(\d{3})\b", lambda m: rng.choice([m[0], m[1] + m[2]]), s)
    month = "|".join(ew.MONTHS)
    s = re.sub(rf"\b({month}) (\d{{1,2}}), (\d{{4}})", lambda m: rng.choice([m[0], f"{m[2]} {m[1]} {m[3]}", f"{m[1]} {m[3]}", m[3]]), s)
    s = re.sub(rf"\b(\d{{1,2}}) ({month}) (\d{{4}})", lambda m: rng.choice([m[0], f"{m[2]} {m[1]}, {m[3]}", f"{m[2]} {m[3]}"]), s)
    return s


def number_vague(rng, s):
    m = [x for x in NUM.finditer(s) if not YEAR.fullmatch(x[1])]
    if not m:
        y = list(YEAR.finditer(s))
        if y and rng.random() < 0.5 and s[:y[0].start()].endswith("in "):
            x = y[0]
            return s[:x.start() - 3] + f"in the {x[1][:3]}0s" + s[x.end():]
        return s
    x = rng.choice(m)
    value = float(x[1].replace(",", ""))
    if value < 12 or re.search(rf"(?:{'|'.join(ew.MONTHS)}|chapter|page|No\.|more than|less than|over|under|about|at least) $", s[:x.start()]):
        return s
    digits = max(1, len(str(int(value))) - 1)
    low = int(value // 10 ** digits * 10 ** digits)
    if low == value:
        low = int(value * 0.9)
    text = f"{low:,}" if low >= 1000 else str(low)
    return s[:x.start()] + rng.choice(["more than ", "over ", "at least "]) + text + s[x.end():]


def reorder_list(rng, s):
    m = re.search(r"([A-Z][\w .'-]{1,25}), ([A-Z][\w .'-]{1,25}),? and ([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)", s)
    if m:
        items = [m[1], m[2], m[3]]
        rng.shuffle(items)
        return s[:m.start()] + f"{items[0]}, {items[1]} and {items[2]}" + s[m.end():]
    m = re.search(r"\b([A-Z][\w'-]+(?: [A-Z][\w'-]+)*) and ([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)", s)
    return s[:m.start()] + f"{m[2]} and {m[1]}" + s[m.end():] if m and not re.search(r"between", s[:m.start()]) else s


PASSIVE = re.compile(r"^((?:The |A |An )?[A-Z][\w' -]{1,40}?) (?:was|were) (\w+ed) by ((?:the |a |an )?[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)")


def to_active(rng, s):
    m = PASSIVE.match(s)
    return f"{cap(m[3])} {m[2]} {uncap(m[1])}{s[m.end():]}" if m else s


ACTIVE = re.compile(r"^((?:The )?[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,3}) (\w+ed) ((?:the |a |an )?[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,3})(?=[ .,])")


def to_passive(rng, s):
    m = ACTIVE.match(s)
    return f"{cap(m[3])} was {m[2]} by {uncap(m[1])}{s[m.end():]}" if m else s


def shorten_name(rng, s):
    m = re.search(r"\b[A-Z][a-z]+ ([A-Z][a-z]{2,})\b", s)
    return s[:m.start()] + m[1] + s[m.end():] if m else s


WORDING = [(drop_parenthesis, 2), (drop_leading, 2), (lead_to_end, 2), (end_to_lead, 2), (drop_clause, 3), (drop_middle, 3), (drop_tail, 2),
           (drop_adverb, 1), (synonyms, 6), (contractions, 2), (number_words, 2), (number_forms, 2), (number_vague, 2), (reorder_list, 1),
           (to_active, 3), (to_passive, 3), (shorten_name, 1)]


def reworded(rng, s, strength):
    """`strength` wording changes that did something (fewer if nothing more fits)."""
    left, tries = strength, 0
    while left > 0 and tries < 12:
        tries += 1
        change = rng.choices([w for w, _ in WORDING], [n for _, n in WORDING])[0]
        new = re.sub(r"\s+", " ", change(rng, s)).strip()
        if new != s and len(new) > 20:
            s, left = new, left - 1
    return s


# --------------------------------------------------------------------------------------------------- fact changes

class Pool:
    """Names, numbers and adjuncts of a document, for swaps that look natural there."""

    def __init__(self, sentences):
        self.entities, self.numbers, self.years, self.tails = defaultdict(set), set(), set(), []
        for s in sentences:
            for m in list(ENTITY.finditer(s)):
                if m.start() == 0 and len(m.group().split()) == 1:
                    continue
                self.entities[min(3, len(m.group().split()))].add(m.group().strip(".,'’"))
            self.years.update(YEAR.findall(s))
            self.numbers.update(x for x in NUM.findall(s) if not YEAR.fullmatch(x))
            body, _ = parts_end(s)
            m = re.search(r"(?: (?:in|on|at|for|from|with|by|during|since|after|to|because of) (?:[^\s,]+ ){0,5}[^\s,]+|, (?:which|who|where|"
                          r"including|making|because|while) [^,]{8,60})$", body)
            if m:
                self.tails.append(m.group())


def swap_number(rng, s, pool):
    m = [x for x in NUM.finditer(s)]
    words = [x for x in re.finditer(r"\b[a-z]+\b", s) if x.group() in ef.NUMBER_WORDS and x.group() not in ("one", "zero")]
    if not m and not words:
        return None
    x = rng.choice(m + words)
    if x.group() in ef.NUMBER_WORDS:
        new = rng.choice([w for w in ef.NUMBER_WORDS if w not in (x.group(), "zero", "one")][:12])
    elif YEAR.fullmatch(x[1]):
        other = [y for y in pool.years if y != x[1]]
        new = rng.choice(other) if other and rng.random() < 0.5 else str(int(x[1]) + rng.choice([-20, -10, -5, -3, -2, -1, 1, 2, 3, 5, 10, 20]))
    else:
        other = [n for n in pool.numbers if n != x[1] and len(n) == len(x[1])]
        value = float(x[1].replace(",", ""))
        if other and rng.random() < 0.4:
            new = rng.choice(other)
        else:
            value = value * rng.choice([0.1, 0.5, 0.8, 0.9, 1.1, 1.2, 1.5, 2, 3, 10]) if value > 12 else value + rng.choice([-3, -2, -1, 1, 2, 3, 4])
            value = max(value, 0)
            new = f"{value:.1f}" if "." in x[1] else (f"{round(value):,}" if "," in x[1] else str(round(value)))
            if new == x[1]:
                new = str(round(value) + 1)
    return s[:x.start()] + new + s[x.end():]


def swap_date(rng, s, pool):
    m = list(re.finditer(rf"\b({'|'.join(ew.MONTHS + ew.DAYS)})\b", s))
    if not m:
        return None
    x = rng.choice(m)
    new = rng.choice([w for w in (ew.MONTHS if x[1] in ew.MONTHS else ew.DAYS) if w != x[1]])
    return s[:x.start()] + new + s[x.end():]


def swap_entity(rng, s, pool, everywhere=None):
    m = [x for x in ENTITY.finditer(s) if not (x.start() == 0 and x.group().split()[0] in COMMON_STARTS)
         and x.group() not in ew.MONTHS + ew.DAYS + ["I"] and len(x.group()) > 2]
    if not m:
        return None
    x = rng.choice(m)
    old = x.group().rstrip(".,'’")
    shape = min(3, len(old.split()))
    options = [e for e in pool.entities[shape] if e != old and e not in s and old not in e and not set(e.split()) & set(old.split())]
    if (not options or rng.random() < 0.15) and everywhere:
        stock = everywhere.entities_list[shape]
        options = [e for e in rng.choices(stock, k=3) if e not in s] or options
    if not options:
        return None
    return s[:x.start()] + rng.choice(options) + s[x.start() + len(old):]


def swap_roles(rng, s, pool):
    for pattern, form in ((PASSIVE, "{0} was {1} by {2}"), (ACTIVE, "{0} {1} {2}")):
        m = pattern.match(s)
        if m:
            return form.format(cap(m[3]), m[2], uncap(m[1])) + s[m.end():]
    m = [x.group().rstrip(".,'’") for x in ENTITY.finditer(s) if x.group().split()[0] not in COMMON_STARTS]
    m = list(dict.fromkeys(e for e in m if s.count(e) == 1 and len(e) > 3))
    if len(m) < 2 or (len(m) == 2 and re.search(re.escape(m[0]) + r",? (?:and|or|&|-) " + re.escape(m[1]), s)):
        return None
    a, b = rng.sample(m, 2)
    if a in b or b in a or re.search(re.escape(a) + r"(?:,| and| or) [^.]{0,20}" + re.escape(b), s):
        return None
    return s.replace(a, "\0").replace(b, a).replace("\0", b)


def negate(rng, s, pool):
    positive = re.search(r"\b(is|are|was|were|has|have|had|will|would|can|could|should|does|did|do) (?:not|never) |(is|are|was|were|has|have|had|would|could|does|did|do)n't ", s)
    if positive:
        if re.match(r"(?:do|does|did)", positive.group()):
            return s[:positive.start()] + s[positive.end():]
        return s[:positive.start()] + (positive[1] or positive[2]) + " " + s[positive.end():]
    m = list(AUX.finditer(s))
    if m:
        x = m[0] if rng.random() < 0.8 else rng.choice(m)
        word = x.group()
        new = rng.choice([f"{word} not", f"{word} never", f"{word} not", f"{word}n't" if word not in ("will", "can") else f"{word} not"])
        return s[:x.start()] + new + s[x.end():]
    m = re.search(r"(?<=[a-z] )(\w{3,}ed)\b(?! by\b)", s)
    if m:
        base = m[1][:-1] if m[1][:-2].endswith(("c", "g", "s", "v", "z", "i")) else m[1][:-2]
        if base.endswith("i"):
            base = base[:-1] + "y"
        return s[:m.start()] + rng.choice(["did not ", "failed to ", "refused to ", "never ", "did not "]) .replace("never ", "never " ) + \
            (base if True else m[1]) + s[m.end():]
    return None


def opposite(rng, s, pool):
    m = []
    for x in re.finditer(r"(?<![\w'’-])[A-Za-z-]+(?: than| least| most| to)?(?![\w'’-])", s):
        for text in (x.group(), x.group().split()[0]):
            if text.lower() in ew.ANTONYMS and text.lower() not in ("he", "she", "his", "her", "him", "to", "from", "for", "one", "two"):
                m.append((x.start(), x.start() + len(text), text))
                break
            if text.lower() in ("he", "she", "his", "her", "to", "from", "one", "two") and rng.random() < 0.15:
                m.append((x.start(), x.start() + len(text), text))
                break
    if not m:
        return None
    start, end, text = rng.choice(m)
    new = rng.choice(ew.ANTONYMS[text.lower()])
    return s[:start] + (cap(new) if text[0].isupper() else new) + s[end:]


def swap_verb(rng, s, pool):
    m = [x for x in re.finditer(r"(?<=[a-z,)] )([a-z]{3,}ed)\b", s)]
    m += [x for x in re.finditer(r"\b(?:" + "|".join(ew.DETERMINED_VERBS) + r")\b", s)]
    if not m:
        return None
    x = rng.choice(m)
    new = rng.choice([v for v in ew.DETERMINED_VERBS if v != x.group() and v not in ew.SYNONYMS.get(x.group(), [])])
    return s[:x.start()] + new + s[x.end():]


class Neighbours:
    """Words that the frozen word table holds near each other: like in kind, unlike in meaning."""

    def __init__(self, source=None):
        import convert_minilm as base
        from safetensors.numpy import load_file
        source = Path(source or base.default_model())
        table = load_file(source / "model.safetensors")["embeddings.word_embeddings.weight"]
        vocabulary = (source / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self.words = {w: i for i, w in enumerate(vocabulary) if w.isalpha() and w.isascii() and len(w) > 3}
        self.names = vocabulary
        self.table = table / np.linalg.norm(table, axis=1, keepdims=True)
        self.allowed = np.array(sorted(self.words.values()))
        self.cache = {}

    def near(self, word):
        if word not in self.words:
            return []
        if word not in self.cache:
            cosines = self.table[self.allowed] @ self.table[self.words[word]]
            best = self.allowed[np.argsort(-cosines)[1:40]]
            close = {word, *ew.SYNONYMS.get(word, [])}
            out = [self.names[i] for i, c in zip(best, np.sort(-cosines)[1:40]) if -c < 0.75]
            self.cache[word] = [w for w in out if w not in close and w[:4] != word[:4] and ef.stem(w) != ef.stem(word)
                                and word not in ew.SYNONYMS.get(w, [])][2:22]
        return self.cache[word]


NEAR = None


def near_word(rng, s, pool):
    global NEAR
    NEAR = NEAR or Neighbours()
    m = [x for x in re.finditer(r"(?<![\w'’-])[a-z]{4,}(?![\w'’-])", s) if x.group() not in ef.STOP_WORDS and x.group() not in ef.NUMBER_WORDS]
    rng.shuffle(m)
    for x in m[:4]:
        options = NEAR.near(x.group())
        if options:
            return s[:x.start()] + rng.choice(options) + s[x.end():]
    return None


def add_detail(rng, s, pool):
    body, end = parts_end(s)
    roll = rng.random()
    if roll < 0.35 and pool.tails:
        tail = rng.choice(pool.tails)
        return body + tail + (end or ".") if tail.strip() not in s else None
    if roll < 0.75:
        adjunct = rng.choice(ew.ADJUNCTS).format(year=rng.randrange(1920, 2023), month=rng.choice(ew.MONTHS), n=rng.randrange(2, 60),
                                                 place=rng.choice(ew.PLACES), day=rng.choice(ew.DAYS))
        return f"{body} {adjunct}{end or '.'}" if rng.random() < 0.7 else f"{cap(adjunct)}, {uncap(s)}"
    m = list(re.finditer(r"\b(?:the|a|an|his|her|their|its) (?=[a-z]{4,})", s))
    if not m:
        return None
    x = rng.choice(m)
    adjective = rng.choice(ew.ADJECTIVES)
    article = re.sub(r"^an? ", "an " if adjective[0] in "aeiou" else "a ", x.group())
    return s[:x.start()] + article + adjective + " " + s[x.end():]


# name, function, label of the changed hypothesis, weight. An added detail is neutral; the removal of it is entailed.
FACTS = [("number", swap_number, CONTRA, 5), ("date", swap_date, CONTRA, 2), ("entity", swap_entity, CONTRA, 6), ("roles", swap_roles, CONTRA, 4),
         ("negation", negate, CONTRA, 4), ("opposite", opposite, CONTRA, 6), ("verb", swap_verb, UNSUPPORTED, 3),
         ("near", near_word, UNSUPPORTED, 7), ("detail", add_detail, NEUTRAL, 7)]


def marked(before, after):
    """Character ranges of `after` that differ from `before`, by words."""
    a = [(m.start(), m.end(), m.group()) for m in re.finditer(r"\S+", before)]
    b = [(m.start(), m.end(), m.group()) for m in re.finditer(r"\S+", after)]
    out = []
    for op, _, _, j1, j2 in difflib.SequenceMatcher(None, [w[2] for w in a], [w[2] for w in b], autojunk=False).get_opcodes():
        if op in ("replace", "insert"):
            out.append((b[j1][0], b[j2 - 1][1]))
        elif op == "delete" and b:
            j = min(j1, len(b) - 1)
            out.append((b[j][0], b[j][1]))
    return out


# --------------------------------------------------------------------------------------------------- documents

@dataclass
class Document:
    sentences: list
    group: str
    source: str
    pool: Pool = None
    good: list = field(default_factory=list)
    ordered: bool = True


class Everywhere:
    def __init__(self, documents, rng):
        found = defaultdict(set)
        for d in documents:
            for shape, names in d.pool.entities.items():
                found[shape] |= names
        self.entities_list = {k: sorted(v) for k, v in found.items()}
        for v in self.entities_list.values():
            rng.shuffle(v)
        self.entities_list = defaultdict(list, self.entities_list)


def is_sentence(s):
    n = len(s.split())
    return 7 <= n <= 55 and s[-1:] in ".!?\"”’)" and s[:1].isalnum() and sum(c.isalpha() for c in s) > 0.6 * len(s) and "http" not in s


def documents(data):
    """Documents of train and dev rows; sentences that a test row's context has too are left out."""
    tested = set()
    for name in ("wice_claim", "wice_tokens", "fever_symmetric", "begin"):
        for r in load_rows(data, f"groundedness/{name}", ("test",)):
            tested.update(r["context"] if isinstance(r["context"], list) else [r["context"]])
    for r in load_rows(data, "context_relevance/selqa_sentence", ("test",)):
        tested.add(r["passage"])
    out, seen = [], set()

    def add(sentences, group, source, ordered=True):
        sentences = [tidy(s) for s in sentences if s not in tested]
        key = hashlib.sha256("\n".join(sentences).encode()).hexdigest()
        if key in seen or not sentences:
            return
        seen.add(key)
        d = Document(sentences, group, source, Pool(sentences), ordered=ordered)
        d.good = [i for i, s in enumerate(sentences) if is_sentence(s)]
        if d.good:
            out.append(d)

    for name in ("wice_claim", "wice_tokens"):
        for r in load_rows(data, f"groundedness/{name}"):
            add([s for s in r["context"] if not s.startswith("(meta data)")], r["group"], "wice")
    for r in load_rows(data, "groundedness/begin"):
        if r["context"] not in tested:
            add(ef.sentences(tidy(r["context"])), r["group"], "begin")
    for r in load_rows(data, "groundedness/fever_symmetric"):
        if r["context"] not in tested:
            add(ef.sentences(tidy(r["context"])), r["group"], "fever")
    articles = defaultdict(list)
    for r in load_rows(data, "context_relevance/selqa_sentence"):
        if r["passage"] not in articles[r["group"]]:
            articles[r["group"]].append(r["passage"])
    for group, passages in articles.items():
        add(passages, group, "selqa", ordered=False)
    return out


def words_in(sentences):
    return sum(len(s.split()) for s in sentences)


def premise_of(rng, d, wanted, limit, without=None, replaced=None):
    """The sentences `wanted` with neighbours, up to `limit` words; sometimes out of order, sometimes with a stranger."""
    chosen, step = set(wanted), 0
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 4, 6])):
        step += 1
        for i in (max(chosen) + 1, min(chosen) - 1):
            if 0 <= i < len(d.sentences) and words_in(d.sentences[j] for j in chosen | {i}) <= limit:
                chosen.add(i)
    if without is not None:
        if len(chosen) == 1:
            chosen |= {i for i in (without - 2, without - 1, without + 1, without + 2) if 0 <= i < len(d.sentences)}
        chosen -= {without}
    texts = [(replaced or {}).get(i, d.sentences[i]) for i in sorted(chosen)]
    if rng.random() < 0.15 and d.good:
        texts.insert(rng.randrange(len(texts) + 1), d.sentences[rng.choice(d.good)] if without is None else "")
    if rng.random() < 0.15:
        rng.shuffle(texts)
    return " ".join(t for t in texts if t)


def spoken(rng, h):
    """The hypothesis as a person says it in a conversation, and where it begins there."""
    head = rng.choice(ew.CHAT) if rng.random() < 0.75 else ""
    tail = rng.choice(ew.CHAT_TAILS) if rng.random() < 0.25 else ""
    body, end = parts_end(h)
    if head and head[-2] not in "!?:":
        body = uncap(body)
    if tail[:1] != " " and tail:
        end = ""
    return head + body + (end or ("" if tail[:1] == "," else ".")) + tail, len(head)


# Second stage: what the first learned least, names of the premise in the wrong place first of all.
HARDER = {"number": 7, "date": 4, "entity": 9, "roles": 8, "negation": 6, "opposite": 5, "verb": 2, "near": 3, "detail": 4}


def from_documents(docs, count, seed, harder=False):
    """Pairs from the sentences of the documents. `harder`: a chosen fact change waits for a sentence that it fits."""
    rng, waiting, tries = random.Random(f"pairs-{seed}"), None, 0
    everywhere = Everywhere(docs, rng)
    weights = [len(d.good) ** 0.5 * (1.0 if d.source == "wice" else 0.8) for d in docs]
    out = []
    while len(out) < count:
        d = rng.choices(docs, weights)[0]
        i = rng.choice(d.good)
        source = d.sentences[i]
        wanted = [i]
        if rng.random() < 0.12 and i + 1 < len(d.sentences) and i + 1 in d.good and len(source.split()) < 30:  # two sentences in one
            wanted = [i, i + 1]
        limit = rng.choice([30, 40, 60, 80, 120, 130])
        strength = rng.choice([0, 1, 1, 2, 2, 3, 4])
        good = " ".join(reworded(rng, d.sentences[j], strength) for j in wanted)
        if len(wanted) == 2 and rng.random() < 0.5:
            first, second = (reworded(rng, d.sentences[j], strength) for j in wanted)
            good = parts_end(first)[0] + ", and " + uncap(second)
        roll = rng.random()
        if harder and (waiting or roll < 0.86 and roll >= 0.40):
            tries = tries + 1 if waiting else 0
            roll, waiting = 0.5, waiting or rng.choices(FACTS, [HARDER[f[0]] for f in FACTS])[0]
            if tries > 60:
                waiting = None
                continue
        marks, kind, replaced = [], "same", {}
        if roll < 0.40:  # entailed
            label, hypothesis = ENTAIL, good
            if rng.random() < 0.25:  # the evidence itself in other words
                replaced = {i: reworded(rng, source, 2)}
                if rng.random() < 0.5:
                    hypothesis = reworded(rng, replaced[i], 1) if len(wanted) == 1 else hypothesis
            if rng.random() < 0.3 and len(wanted) == 1:  # the same fact change on both sides
                name, change, _, _ = rng.choices(FACTS, [f[3] for f in FACTS])[0]
                new = change(rng, source, d.pool) if name != "entity" else change(rng, source, d.pool, everywhere)
                if new and new != source:
                    replaced, hypothesis, kind = {i: new}, reworded(rng, new, strength), f"both-{name}"
        elif roll < 0.86:  # one fact changed
            name, change, label, _ = waiting or rng.choices(FACTS, [f[3] for f in FACTS])[0]
            extra = (everywhere,) if name == "entity" else ()
            kind, pool = name, d.pool
            if harder and name == "entity" and rng.random() < 0.6:  # a name that stands in the premise, too
                pool, extra = Pool(d.sentences[max(0, i - 3):i + 4]), ()
            if rng.random() < 0.4 and len(wanted) == 1 and name != "detail":  # in the premise
                new = change(rng, source, pool, *extra)
                if not new or new == source:
                    continue
                waiting = None
                replaced = {i: new}
                state = rng.getstate()
                hypothesis = reworded(rng, source, strength)
                after = rng.getstate()
                rng.setstate(state)
                changed = reworded(rng, new, strength)
                rng.setstate(after)
                if hypothesis == changed:
                    label, marks = ENTAIL, []
                else:
                    marks = marked(changed, hypothesis)
                    if len(marks) == 0 or sum(b - a for a, b in marks) > 0.7 * len(hypothesis):
                        marks = None
                    # the wording change may have cut the fact away
                    lost = not set(ef.words(hypothesis)) - set(ef.words(new)) and name not in ("roles", "negation")
                    if lost:
                        continue
            else:
                new = change(rng, good, pool, *extra)
                if not new or new == good:
                    continue
                waiting = None
                hypothesis, marks = new, marked(good, new)
                if rng.random() < 0.12:  # a second change
                    _, change, _, _ = rng.choices(FACTS[:4], [f[3] for f in FACTS[:4]])[0]
                    more = change(rng, hypothesis, d.pool)
                    if more and more != hypothesis:
                        hypothesis, marks = more, marked(good, more)
                        label = CONTRA if label == CONTRA else UNSUPPORTED
        elif roll < 0.96:  # the evidence is missing
            label, hypothesis, kind, marks = NEUTRAL, good, "missing", None
            if len(d.sentences) < 3 or len(wanted) == 2:
                continue
            text = premise_of(rng, d, [i], limit, without=i)
            if len(text.split()) < 5 or ef.containment(ef.content(good), ef.content(text)) > 0.8:
                continue
            out.append(Pair(text, hypothesis, label, kind, d.group, marks))
            continue
        else:  # half of it is not there
            other = rng.choice(d.good)
            if abs(other - i) < 3 or len(source.split()) > 30:
                continue
            add = reworded(rng, d.sentences[other], 3)
            body, end = parts_end(good)
            hypothesis = rng.choice([f"{body}, and {uncap(add)}", f"{good} {add}", f"{parts_end(add)[0]}, and {uncap(good)}", f"{add} {good}"])
            label, kind = NEUTRAL, "half"
            start = hypothesis.find(add[1:-1])
            marks = [(max(0, start - 1), start + len(add))] if start >= 0 else None
        text = premise_of(rng, d, wanted, limit, replaced=replaced)
        if label == NEUTRAL and kind == "half" and ef.containment(ef.content(add), ef.content(text)) > 0.7:
            continue
        talk = 0.35 if d.source == "begin" else 0.08
        if rng.random() < talk:
            hypothesis, shift = spoken(rng, hypothesis)
            marks = None if marks is None else [(a + shift, b + shift) for a, b in marks]
        if rng.random() < 0.12:
            text = loose(text)
            if rng.random() < 0.5 and marks is not None and not marks:
                hypothesis = loose(hypothesis)
        if rng.random() < 0.12:
            text = text.lower() if rng.random() < 0.6 else text
            hypothesis = hypothesis.lower()
        if rng.random() < 0.1 and hypothesis.endswith("."):
            hypothesis = hypothesis[:-1]
        out.append(Pair(text, hypothesis, label, kind, d.group, marks))
    return out


def chat_remarks(docs, count, seed):
    """Remarks that no context supports, alone or behind a supported sentence, and harmless ones around a supported sentence."""
    rng, out = random.Random(f"chat-{seed}"), []
    while len(out) < count:
        d = rng.choice(docs)
        i = rng.choice(d.good)
        text, remark = premise_of(rng, d, [i], 80), rng.choice(ew.UNSAID)
        if rng.random() < 0.5:
            hypothesis, marks = remark, None
        else:
            body = reworded(rng, d.sentences[i], rng.choice([1, 2, 3]))
            hypothesis = f"{body} {remark}" if rng.random() < 0.6 else f"{remark} {body}"
            start = hypothesis.find(remark)
            marks = [(start, start + len(remark))]
        out.append(Pair(text, hypothesis, NEUTRAL, "remark", d.group, marks))
    return out


# --------------------------------------------------------------------------------------------------- invented facts

def invented(count, seed):
    """Pairs over invented facts (entailment_facts)."""
    rng, out = random.Random(f"facts-{seed}"), []
    number = lambda a, b: str(rng.randrange(a, b))

    def name_of(kind):
        kind = kind.rstrip("23456")
        if kind == "person":
            return f"{rng.choice(facts.FIRST)} {rng.choice(facts.LAST)}"
        if kind == "firm":
            return f"{rng.choice(facts.FIRM)} {rng.choice(facts.KIND)}" if rng.random() < 0.7 else rng.choice(facts.FIRM)
        if kind == "work":
            return f"The {rng.choice(facts.TITLE_A)} {rng.choice(facts.TITLE_B)}" if rng.random() < 0.6 else \
                f"{rng.choice(facts.TITLE_A)} {rng.choice(facts.TITLE_B)}"
        lists = {"city": facts.CITY, "country": facts.COUNTRY, "field": facts.FIELD, "job": facts.JOB, "instrument": facts.INSTRUMENT,
                 "sport": facts.SPORT, "product": facts.PRODUCT, "animal": facts.ANIMAL, "color": facts.COLOR, "language": facts.LANGUAGE,
                 "material": facts.MATERIAL, "weekday": ew.DAYS}
        if kind in lists:
            return rng.choice(lists[kind])
        return {"year": lambda: number(1900, 2024), "age": lambda: number(40, 99), "children": lambda: rng.choice("two three four five six".split()),
                "pages": lambda: number(90, 900), "people": lambda: f"{rng.randrange(20, 9000):,}", "percent": lambda: number(2, 60),
                "money": lambda: number(2, 300), "count": lambda: f"{rng.randrange(5, 900) * 1000:,}", "time": lambda: f"{rng.randrange(7, 12)} a.m.",
                "price": lambda: number(3, 30)}[kind]()

    def say(wordings, s, o):
        text = rng.choice(wordings).format(s=s, o=o)
        text = re.sub(r"^the ", "The ", text)
        return cap(text)

    subjects = {k: [r for r in facts.RELATIONS if r[0] == k] for k in ("person", "firm", "work", "city")}
    while len(out) < count:
        roll = rng.random()
        group = f"invented-{rng.randrange(400)}"
        if roll < 0.14:  # one reasoning step
            rule, yes, no, open_ = rng.choice(facts.STEPS)
            y = rng.randrange(1950, 2015)
            n = rng.randrange(3, 60)
            values = dict(s=name_of("person"), t=name_of("person"), c=name_of("city"), f=name_of("sport"), n=n, m=n + rng.randrange(2, 40), y=y,
                          z=y + rng.randrange(2, 12))
            if rng.random() < 0.4:
                values["s"], values["t"] = values["s"].split()[0], values["t"].split()[0]
            label = rng.choice([ENTAIL, ENTAIL, NEUTRAL, CONTRA])
            hypothesis = [yes, open_, no][label].format(**values)
            premise = [rule.format(**values)]
            for _ in range(rng.choice([0, 0, 1, 2])):
                r = rng.choice(subjects["person"])
                premise.insert(rng.randrange(len(premise) + 1), say(r[2], values["s"], name_of(r[1])))
            out.append(Pair(" ".join(premise), hypothesis, label, "step", group, None))
            continue
        kind = rng.choice(["person", "person", "firm", "work", "city"])
        main = name_of(kind)
        if roll < 0.32:  # states
            _, yes, no = rng.choice([s for s in facts.STATES if s[0] == kind] or facts.STATES[:1])
            if rng.random() < 0.5:
                yes, no = no, yes
            premise = [rng.choice(yes).format(s=main)]
            r = rng.choice(subjects[kind])
            for _ in range(rng.choice([0, 1, 2])):
                premise.insert(rng.randrange(len(premise) + 1), say(r[2], main, name_of(r[1])))
                r = rng.choice(subjects[kind])
            label = rng.choice([ENTAIL, CONTRA, NEUTRAL])
            if label == NEUTRAL:
                other = rng.choice([s for s in facts.STATES if s[0] == kind and yes not in s and no not in s] or [facts.STATES[0]])
                hypothesis = rng.choice(rng.choice(other[1:])).format(s=main if other[0] == kind else name_of("person"))
                if rng.random() < 0.3:
                    hypothesis = rng.choice(yes).format(s=name_of(kind))
            else:
                hypothesis = rng.choice(yes if label == ENTAIL else no).format(s=main)
            out.append(Pair(" ".join(premise), cap(hypothesis), label, "state", group, [] if label == ENTAIL else None))
            continue
        relations = rng.sample(subjects[kind], min(len(subjects[kind]), rng.choice([1, 2, 3, 4, 5])))
        told = [(r, main, name_of(r[1])) for r in relations]
        rival = name_of(kind)
        if rng.random() < 0.5:  # the same things about somebody else
            told += [(r, rival, name_of(r[1])) for r, _, _ in told[:2]]
        sentences = [say(r[2], s, o) for r, s, o in told]
        if rng.random() < 0.3 and kind == "person":
            short = main.split()[-1]
            sentences = sentences[:1] + [s.replace(main, short) if rng.random() < 0.5 else s for s in sentences[1:]]
        order = list(range(len(sentences)))
        rng.shuffle(order)
        premise = " ".join(sentences[i] for i in order)
        (r, s, o) = rng.choice(told)
        wordings = r[2]
        label = rng.choice([ENTAIL, ENTAIL, CONTRA, NEUTRAL])
        marks = [] if label == ENTAIL else None
        if label == ENTAIL:
            hypothesis = say(wordings, s, o)
            if rng.random() < 0.25 and len(told) > 1:
                r2, s2, o2 = rng.choice([t for t in told if t[0] is not r] or told)
                hypothesis += " " + say(r2[2], s2, o2)
        elif label == CONTRA:
            other = [x for rr, ss, x in told if rr is r and x != o]
            wrong = rng.choice(other) if other and rng.random() < 0.6 else name_of(r[1])
            if wrong == o:
                continue
            if r[1].startswith(kind) and rng.random() < 0.7 and r[1] not in ("person",) and "married" not in wordings[0] and "compet" not in wordings[0]:
                s, wrong = o, s  # the roles
            hypothesis = say(wordings, s, wrong)
            at = hypothesis.find(wrong)
            marks = [(at, at + len(wrong))] if at >= 0 else None
            if r[1] in ("firm2", "firm4", "language", "instrument", "product", "firm", "work", "work2", "work3", "person2", "person4", "animal", "person6", "sport", "field"):
                label = UNSUPPORTED
        else:
            free = [x for x in subjects[kind] if x not in [t[0] for t in told]]
            r2 = rng.choice(free or subjects[kind])
            hypothesis = say(r2[2], s, name_of(r2[1]))
            if rng.random() < 0.35:
                hypothesis = say(wordings, name_of(kind), o)
            if rng.random() < 0.3:
                hypothesis = parts_end(say(wordings, *told[0][1:]) if r is told[0][0] else say(told[0][0][2], *told[0][1:]))[0] + ", and " + hypothesis
        out.append(Pair(premise, hypothesis, label, "invented", group, marks))
    return out


# --------------------------------------------------------------------------------------------------- labelled rows

WINDOW_LIMITS = (ef.WINDOW_TOKENS, 200)  # tokens; wider ones than the product's too, so that the model bears both


def labelled(data, vectors, tokens):
    """(training pairs, rows) of the labelled sets; windows as the product chooses them."""
    out = []

    def cut(context):
        s = ef.context_sentences(context)
        return ef.Context(s, [len(tokens.plain(x).ids) for x in s], vectors(s))

    def chosen(context, sentence):
        found = [ef.window(context, sentence, limit)[0] for limit in WINDOW_LIMITS]
        return list(dict.fromkeys(" ".join(context.sentences[i] for i in w) for w in found))

    for r in load_rows(data, "groundedness/fever_symmetric"):
        for premise, answer in ((tidy(r["context"]), tidy(r["answer"])), (r["context"], r["answer"])):
            out.append(Pair(premise, answer, CONTRA if r["label"] else ENTAIL, "fever", r["group"], None if r["label"] else [], row=r["id"]))
    for r in load_rows(data, "groundedness/begin"):
        context, parts = cut(r["context"]), ef.sentences(r["answer"])
        texts = [r["answer"]] if r["label"] or len(parts) == 1 else [*parts, r["answer"]]
        for text in texts:
            for premise in chosen(context, r["answer"])[:2 if r["label"] else 1]:
                if r["label"] == 0 and len(context.sentences) > 3 and sum(context.lengths) > 160:
                    premise = " ".join(context.sentences)
                out.append(Pair(premise, text, UNSUPPORTED if r["label"] else ENTAIL, "begin", r["group"], None if r["label"] else [], row=r["id"]))
    for r in load_rows(data, "groundedness/wice_claim"):
        sets = sorted(r["supporting_sentences"], key=len)
        if r["label"]:
            for premise in chosen(cut(r["context"]), r["answer"]):
                out.append(Pair(premise, r["answer"], UNSUPPORTED, "wice", r["group"], None, row=r["id"]))
        for part in (sets[:2] if sets and sets[0] else []):
            near = sorted({j for i in part for j in (i - 1, i, i + 1) if 0 <= j < len(r["context"])})
            for indices in (part, near) if sum(len(r["context"][j].split()) for j in near) < 150 else (part,):
                premise = " ".join(r["context"][j] for j in sorted(indices))
                out.append(Pair(premise, r["answer"], UNSUPPORTED if r["label"] else ENTAIL, "wice-evidence", r["group"], None if r["label"] else [],
                                row=r["id"]))
    for r in load_rows(data, "groundedness/wice_tokens"):
        context = cut(r["context"])
        premises = chosen(context, r["answer"])
        marks = [(s["start"], s["end"]) for s in r["spans"]]
        for premise in premises[:1] + premises[-1:]:
            out.append(Pair(premise, r["answer"], UNSUPPORTED, "wice-tokens", r["group"], marks, row=r["id"]))
        kept, at = "", 0
        for a, b in sorted(marks):
            kept += r["answer"][at:a]
            at = b
        kept = re.sub(r"\s+", " ", re.sub(r"\s+([.,])", r"\1", kept + r["answer"][at:])).strip(" ,")
        if len(ef.content(kept)) >= 3:
            out.append(Pair(premises[-1], cap(kept), ENTAIL, "wice-kept", r["group"], [], weight=0.7, row=r["id"]))
    return out


def harder_pairs(data, made=24000, facts_count=6000, seed=8):
    """Pairs of the second stage, from the same documents."""
    global COMPOUND
    COMPOUND = True
    docs = [d for d in documents(data) if not held_out(d.group)]
    return from_documents(docs, made, seed, harder=True) + invented(facts_count, seed) + chat_remarks(docs, 400, seed)


def build(data, vectors, tokens, made=60000, facts_count=14000, remarks=2500, seed=7):
    docs = documents(data)
    train, held = [d for d in docs if not held_out(d.group)], [d for d in docs if held_out(d.group)]
    rows = labelled(data, vectors, tokens)
    pairs = from_documents(train, made, seed) + chat_remarks(train, remarks, seed) + invented(facts_count, seed)
    check = from_documents(held, 2500, seed + 1) + invented(600, seed + 1)
    return {"pairs": pairs, "rows": [p for p in rows if not held_out(p.group)], "check": check, "held": [p for p in rows if held_out(p.group)],
            "documents": len(docs), "sentences": sum(len(d.good) for d in docs)}
