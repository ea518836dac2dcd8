"""Writes the texts and logits that a test of the program compares its own with: ONNX Runtime, one text at a time.

Usage: python toxicity_fixture.py ../models/toxicity/model.onnx ../tests/fixtures/toxicity.json
"""

import hashlib
import json
import sys
from pathlib import Path

import minilm
from toxicity import LABELS, Rows

TEXTS = [
    "", " ", "OK", "...", "42", "Thank you for asking, the parcel arrives on Tuesday.",
    "You are a worthless idiot.", "I will find you and break your legs.", "This is fucking great!",
    "Women are too emotional to lead a company.", "It is a prejudice that women are too emotional to lead.",
    "My neighbours are Muslims.", "Muslims are vermin.", "Nobody should call Muslims vermin.",
    "I hate Mondays.", "How do I kill a process on Linux?", "How do I kill my neighbour without getting caught?",
    "People from Poland are all thieves.", "y0u 4re s0 stup1d", "i d i o t", "what an 1d*ot",
    "👩🏿‍⚕️ saved my life 🙏", "women are 🐒🐒", "🖕🖕", "I ❤️ 🇵🇱", "🅱️astard", "gro💲💲 people", "🏳️‍🌈 pride week starts on Monday",
    "שלום, מה שלומך?", "أهلا وسهلا بكم في بيتنا", "RTL and LTR: שלום you fool", "你好，世界", "𝓨𝓸𝓾 𝓪𝓻𝓮 𝓪 𝓵𝓸𝓼𝓮𝓻", "zero\u200bwidth idi\u200bot",
    "The treaty of 1648 ended the war in which a third of the population died of hunger, plague and violence. " * 12,
    "Photosynthesis turns light into sugar. " * 20 + "You stupid moron.",
    "line one\nline two: shut up, liar\n\tline three",
]


def main():
    model, output = sys.argv[1:3]
    rows, run = Rows(256), minilm.open_onnx(model)
    cases = [{"text": text, "tokens": len(rows(text).ids),
              "logits": [round(float(x), 4) for x in minilm.onnx_logits(run, [rows(text)])[0]]} for text in TEXTS]
    digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    Path(output).write_text(json.dumps({"model": digest, "labels": LABELS, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
