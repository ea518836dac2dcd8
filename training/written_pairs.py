"""Reads training/written/*.txt: contexts with claims, and questions with passages and answers, all written for this purpose.

    python written_pairs.py            # counts and faults of all files

Claims (claims-*.txt):                          Questions (questions-*.txt):

    === any name                                    === any name
    The context, any number of lines.               q: a question; several q: lines are the turns of a conversation
    ---                                             p+ a passage that answers the last turn
    + a sentence that the context entails           p- a passage that does not, though it is near
    ! one that it contradicts, [[here]]             a+ an answer that addresses the last turn
    ? one that says more than it, [[here]]          a- an answer that does not
    * one that claims nothing (an offer, thanks)

The words in [[ ]] are the unsupported ones. A file more-NAME.txt has more claims for the blocks of claims-NAME.txt, without their
contexts; together true claims are near to the context's words as often as far from them, and false ones too.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "written"
KINDS = {"+": "entailed", "!": "contradicted", "?": "unstated", "*": "empty"}
MARK = re.compile(r"\[\[(.+?)\]\]")


@dataclass
class Claim:
    text: str
    kind: str
    marks: list  # (start, end) of the unsupported words in `text`


@dataclass
class Written:
    name: str
    genre: str
    context: str = ""
    claims: list = field(default_factory=list)
    turns: list = field(default_factory=list)
    passages: list = field(default_factory=list)  # (text, 1 if it answers)
    answers: list = field(default_factory=list)   # (text, 1 if it addresses the question)

    @property
    def group(self):
        return f"written/{self.genre}/{self.name}"


def claim(line):
    kind, text = KINDS[line[0]], line[1:].strip()
    plain, marks, last = "", [], 0
    for found in MARK.finditer(text):
        plain += text[last:found.start()]
        marks.append((len(plain), len(plain) + len(found.group(1))))
        plain += found.group(1)
        last = found.end()
    plain += text[last:]
    if "[[" in plain or "]]" in plain or not plain:
        raise ValueError(f"unreadable claim: {line}")
    if marks and kind in ("entailed", "empty"):
        raise ValueError(f"marked words in a supported sentence: {line}")
    return Claim(plain, kind, marks)


def block(name, genre, lines, alone=True):
    out, body, below = Written(name, genre), [], False
    for line in lines:
        if line.strip() == "---":
            below = True
        elif m := re.match(r"(q:|p\+|p-|a\+|a-)\s*(.+)", line):
            what, text = m.groups()
            if what == "q:":
                out.turns.append(text.strip())
            else:
                (out.passages if what[0] == "p" else out.answers).append((text.strip(), int(what[1] == "+")))
        elif below and line.strip():
            if line[0] not in KINDS:
                raise ValueError(f"a line that is no claim: {line}")
            out.claims.append(claim(line))
        elif not below:
            body.append(line.strip())
    out.context = "\n".join(body).strip()
    if out.turns:
        if out.context or out.claims or not (out.passages or out.answers):
            raise ValueError("a question needs passages or answers, and nothing else")
    elif (alone and not out.context) or not out.claims:
        raise ValueError("a context without claims, or claims without a context")
    return out


def read(path):
    """(blocks, faults) of a file."""
    genre = re.sub(r"^(claims|questions|more)-|(-\d+)?$", "", path.stem)
    found, faults, name, lines = [], [], None, []
    for line in [*path.read_text(encoding="utf-8").split("\n"), "=== end"]:
        if line.startswith("==="):
            if name is not None:
                try:
                    found.append(block(name, genre, lines, not path.stem.startswith("more-")))
                except (ValueError, IndexError) as fault:
                    faults.append(f"{path.name}: {name}: {fault}")
            name, lines = line[3:].strip(), []
        else:
            lines.append(line)
    return found, faults


def everything(kind):
    """All blocks of the files whose names begin with `kind`; faulty ones are left out."""
    found = [b for path in sorted(FOLDER.glob(f"{kind}-*.txt")) for b in read(path)[0]]
    if kind == "claims":
        of = {b.group: b for b in found}
        for more in (b for path in sorted(FOLDER.glob("more-*.txt")) for b in read(path)[0]):
            of[more.group].claims += more.claims
    return found


def main():
    failed = False
    for path in [Path(p) for p in sys.argv[1:]] or sorted(FOLDER.glob("*.txt")):
        found, faults = read(path)
        counts = Counter(c.kind for b in found for c in b.claims)
        counts.update(f"p{'-+'[x]}" for b in found for _, x in b.passages)
        counts.update(f"a{'-+'[x]}" for b in found for _, x in b.answers)
        doubled = [n for n, k in Counter(b.name for b in found).items() if k > 1]
        print(path.name, len(found), "blocks", dict(counts), *(f"\n  {f}" for f in faults), *(f"\n  twice: {n}" for n in doubled))
        failed |= bool(faults)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
