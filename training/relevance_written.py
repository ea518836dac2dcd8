"""The written questions (training/written) as rows of the relevance model."""

import entailment_pairs as ep
import relevance_pairs as rp
import written_pairs


def items():
    """(training rows, held-out rows): passages and answers of each question."""
    out = []
    for block in written_pairs.everything("questions"):
        question = "\n".join(block.turns)
        kind = "talk" if len(block.turns) > 1 else "single"
        out += [rp.Item(0, question, text, label, "written-passage", block.group) for text, label in block.passages]
        out += [rp.Item(1, question, text, label, f"written-{kind}", block.group) for text, label in block.answers]
    return [x for x in out if not ep.held_out(x.group)], [x for x in out if ep.held_out(x.group)]
