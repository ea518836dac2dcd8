"""The command ``groundline-evaluator``: runs the evaluator that a file holds."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Optional, Sequence

from ._evaluator import Evaluator


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Runs the evaluator of ``FILE.py``, or that of ``FILE.py:NAME``; the other arguments are those of ``Evaluator.run``."""
    parser = argparse.ArgumentParser(
        prog="groundline-evaluator",
        description="Runs the evaluator that a file of Python holds: over standard input and output, or as the options say.",
        epilog="Options behind the file: --http [HOST:]PORT, --grpc [HOST:]PORT, --token-file FILE",
    )
    parser.add_argument("source", metavar="FILE.py[:NAME]", help="the file, and the evaluator's variable if it has several")
    given, rest = parser.parse_known_args(arguments)
    try:
        evaluator = found(given.source)
    except LookupError as error:
        parser.error(str(error.args[0]))
    evaluator.run(rest)


def found(source: str) -> Evaluator:
    """The evaluator of ``FILE.py`` or ``FILE.py:NAME``. Raises ``LookupError`` where there is none, or more than one."""
    file, _, name = source.partition(".py:")
    path = Path(f"{file}.py" if name else source).resolve()
    if not path.is_file():
        raise LookupError(f"{path} is no file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise LookupError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    # As for a program: what lies beside the file can be imported.
    sys.path.insert(0, str(path.parent))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    known = {name: value for name, value in vars(module).items() if isinstance(value, Evaluator)}
    if name:
        if name not in known:
            raise LookupError(f"{path} has no evaluator {name}; it has {', '.join(known) or 'none'}")
        return known[name]
    if len(set(map(id, known.values()))) != 1:
        many = f"has {', '.join(known)}: name one, as in {path.name}:{next(iter(known))}" if known else "has no evaluator"
        raise LookupError(f"{path} {many}")
    return next(iter(known.values()))
