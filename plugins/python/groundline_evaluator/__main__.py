"""``python -m groundline_evaluator`` is ``groundline-evaluator``."""

from ._command import main

main()
