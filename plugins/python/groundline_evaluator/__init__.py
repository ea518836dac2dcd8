"""Evaluators of your own for Groundline: decorate a function, and run it as a process, over HTTP or over gRPC.

    from groundline_evaluator import Metric, Score, evaluator

    @evaluator(version="1", metrics=[Metric("politeness", threshold=0.5)])
    def tone(answer: str, question: str | None = None) -> Score:
        rude = [word for word in ("stupid", "idiot") if word in answer.lower()]
        return Score(0.0 if rude else 1.0, rationale=", ".join(rude))

    if __name__ == "__main__":
        tone.run()

The parameters name the inputs; one with a default may be missing, any other that is missing gives a skipped score and the
function is not called. The standard library is all that is needed; gRPC alone needs the extra ``grpc``.
"""

from ._evaluator import INPUTS, PROTOCOL, Context, Evaluator, Metric, Result, Score, Step, evaluator

__all__ = ["INPUTS", "PROTOCOL", "Context", "Evaluator", "Metric", "Result", "Score", "Step", "evaluator"]
