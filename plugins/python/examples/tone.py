"""How polite an answer is, and whether it promises a delivery date: two metrics of one evaluator."""

import re

from groundline_evaluator import Metric, Score, evaluator

RUDE = re.compile(r"\b(stupid|idiot|shut up|nonsense)\b", re.IGNORECASE)
PROMISE = re.compile(r"\b(will arrive|be delivered|ships) (on|by|before|tomorrow)\b", re.IGNORECASE)


@evaluator(version="1", metrics=[Metric("politeness", threshold=0.5), Metric("promise", better="lower")])
def tone(answer: str) -> dict:
    rude = RUDE.findall(answer)
    promise = PROMISE.search(answer)
    return {
        "politeness": Score(1 / (1 + len(rude)), rationale=f"rude: {', '.join(rude)}" if rude else None),
        "promise": Score(passed=promise is None, rationale=promise.group(0) if promise else None),
    }


if __name__ == "__main__":
    tone.run()
