"""Writes the values that the exact formulas are tested against, as the reference implementations compute them.

Needs nltk 3.9 and rouge-score 0.1.2. Usage: python reference_values.py ../src/eval/local/reference/reference_values.json
"""

import json
import re
import sys
import warnings

from nltk.translate.bleu_score import sentence_bleu
from rouge_score import rouge_scorer

warnings.simplefilter("ignore")
PAIRS = [
    ("The cat sat on the mat.", "The cat is on the mat."),
    ("The museum opens at nine and closes at five.", "The museum opens at nine and closes at five."),
    ("A refund takes five working days.", "Refunds are paid within five working days of the return."),
    ("yes", "yes"),
    ("yes", "no"),
    ("Berlin", "The capital of Germany is Berlin"),
    ("the the the the the the the", "the cat is on the mat"),
    ("It is a guide to action which ensures that the military always obeys the commands of the party",
     "It is a guide to action that ensures that the military will forever heed Party commands"),
    ("It is to insure the troops forever hearing the activity guidebook that party direct",
     "It is a guide to action that ensures that the military will forever heed Party commands"),
    ("In 1969 two men walked on the Moon, and a third one waited in orbit.",
     "Two men walked on the moon in 1969 while a third waited in orbit around it."),
    ("Version 3 of the driver supports 64 bit addresses.", "The driver supports 64 bit addresses since version 3."),
    ("Water boils at 100 degrees; it freezes at 0 degrees.", "Water freezes at 0 degrees and boils at 100 degrees."),
    ("one two three four five six seven eight nine ten", "ten nine eight seven six five four three two one"),
    ("one two three four five six seven eight nine ten", "one two three four five"),
    ("one two three four five", "one two three four five six seven eight nine ten"),
    ("Payment failed because the card had expired last month", "The card expired last month so the payment failed"),
    ("To reset your password open the settings and choose security",
     "Open the settings, choose security, then reset your password"),
    ("a b c d a b c d a b", "a b c d e f g h i j"),
    ("red green blue", "red green blue yellow"),
    ("This answer shares nothing", "Completely different words stand here instead"),
    ("The invoice is due on Friday. " * 12, "The invoice is due on Friday. " * 9 + "Late payment costs extra."),
    ("ALL CAPITALS AND, punctuation!!! (really)", "all capitals and punctuation really"),
]


def tokens(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def main():
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    out = []
    for answer, expected in PAIRS:
        found, known = tokens(answer), tokens(expected)
        bleu = [sentence_bleu([known], found, weights=[1 / n] * n) for n in range(1, 5)]
        rouge = scorer.score(expected, answer)
        out.append({"answer": answer, "expected": expected, "tokens": found, "bleu": bleu,
                    "rouge": [rouge[name].fmeasure for name in ("rouge1", "rouge2", "rougeL")]})
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
