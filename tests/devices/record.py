"""Ask a library all questions, in its own environment, and keep its answers.

    PYTHONPATH=tests/devices python tests/devices/record.py jax tests/data/devices

The environment needs NumPy and the library. What a library has no function for is left out.
"""

from __future__ import annotations

import datetime
import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
from answers import LIBRARIES, Ask
from questions import Question, questions


def answers_to(question: Question, ask: Ask) -> dict[str, np.ndarray] | None:
    """raised: bool of each case; out0, out1…: what the others gave, one after the other. None
    where the library has no such function."""
    given: list[tuple[np.ndarray, ...]] = []
    raised = np.zeros(len(question.inputs[0]), bool)
    for case in range(len(raised)):
        try:
            made: Any = ask(*question.of(case), **question.attrs)
            parts = made if isinstance(made, tuple | list) else (made,)
            given.append(tuple(np.asarray(part) for part in parts))
        except (NotImplementedError, AttributeError):
            return None
        except Exception as error:
            if "not implemented for" in str(error):
                return None
            raised[case] = True
    outputs = {f"out{i}": np.stack(parts) for i, parts in enumerate(zip(*given, strict=True))}
    return {"raised": raised, **outputs}


def record(library: str, folder: Path) -> None:
    """`folder`/LIBRARY.npz, with inputs and answers by question, and who gave them."""
    asks, version = LIBRARIES[library]()
    arrays: dict[str, np.ndarray] = {}
    for name, question in questions().items():
        if library in question.without or question.type not in asks:
            continue
        found = answers_to(question, asks[question.type])
        if found is None:
            sys.stderr.write(f"it has no {name}\n")
            continue
        inputs = {f"in{i}": x for i, x in enumerate(question.inputs)}
        arrays |= {f"{name}|{part}": x for part, x in {**inputs, **found}.items()}
    today = datetime.date.today().isoformat()
    facts = {"version": version, "machine": platform.machine(), "date": today}
    facts["numpy"] = np.__version__
    np.savez_compressed(folder / f"{library}.npz", facts=np.array(json.dumps(facts)), **arrays)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        record(sys.argv[1], Path(sys.argv[2]))
