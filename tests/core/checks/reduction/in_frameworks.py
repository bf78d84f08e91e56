"""Whether the scripts of smallest graphs show in a framework what was planted.

    HYPOTHESIS_PROFILE=thorough python -m tests.core.checks.reduction.in_frameworks PYTHON NAME

PYTHON has NAME: tensorflow, torch or numpy. Prints how many of fifty graphs do, with a NaN, a zero
or no gradient planted, and how many of fifty with a wrong rule; and names those that do not, or
cannot be written as such a script.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.io.export_document import to_bytes
from tests.core.checks.reduction import test_rule_reduction as rules
from tests.core.checks.reduction.test_reductions import COUNT, LOSS, large, of_what, smallest, why

SUFFIXES = {"tensorflow": ".py", "torch": ".torch.py", "numpy": ".numpy.py"}
_RUNNER = """
import contextlib, json, sys
import numpy as np

def read(script):
    said = []
    space = {"__name__": "script", "print": lambda *words: said.append(words)}
    around = contextlib.nullcontext()
    if "import tensorflow" in script:
        import tensorflow as tf
        around = tf.Graph().as_default()
    with around:
        exec(script, space)
    right = [w[1] for w in said if str(w[0]).startswith("by differences")]
    if "import tensorflow" in script:
        there = [list(w[0]) for w in said if isinstance(w[0], list)]
        found = iter(there[0] if there else [])
        gradients = [None if g is None else next(found) for g in space.get("gradients", ())]
        return said[0][0], gradients, right
    return said[0][1], [w[1] for w in said if w[0].startswith("gradient by")], right

def shows(script, state):
    value, gradients, right = read(script)
    known = [np.asarray(g, float) for g in gradients if g is not None]
    if state == "none":
        none = len(known) < len(gradients)
        return none or ("torch" in script and not all(g.any() for g in known))
    if state == "zero":
        return any(not g.any() for g in known)
    if state == "rule":
        return any(np.abs(g - r).max() > 1e-3 * np.abs(r).max() for g, r in zip(known, right))
    return any(not np.isfinite(x).all() for x in known or [np.asarray(value, float)])

found = []
for number, (script, state) in enumerate(json.load(open(sys.argv[1]))):
    script = script.replace("Planted", f"Planted{number}")  # TensorFlow registers a name once
    try:
        found.append("" if shows(script, state) else "not shown")
    except Exception as error:
        found.append(repr(error)[:200])
print(json.dumps(found))
"""


def planted(suffix: str) -> Iterator[tuple[str, str, str]]:
    """What was planted, in words; the script; and what it has to show."""
    for seed in range(COUNT):
        document, name, plant = large(seed)
        wrt = of_what(document, plant)
        found = why(document, LOSS, wrt)
        small = smallest(document, found, LOSS, wrt)
        yield (
            f"{name}: {found.state}, {len(document.graph)} -> {len(small.graph)}",
            *_script(small, suffix, found.state),
        )
    for seed in range(COUNT):
        whole, name = rules.large(seed)
        wrong = rules.first_wrong_rule(rules.table(rules.checks(whole)))
        small = rules.smallest(whole, wrong)
        words = f"{name}: a wrong rule, {len(whole.graph)} -> {len(small.graph)}"
        yield words, *_script(small, suffix, "rule")


def _script(small, suffix: str, state: str) -> tuple[str, str]:  # type: ignore[no-untyped-def]
    try:
        return to_bytes(small, suffix).decode(), state
    except GradstepError as error:
        return f"raise SystemExit({error.message!r})", state


def main(python: str, framework: str) -> None:
    made = [*planted(SUFFIXES[framework])]
    unwritten = [f"{words}: {script}" for words, script, _ in made if script.startswith("raise")]
    asked = [(words, script, state) for words, script, state in made if "import" in script]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scripts.json"
        file.write_text(json.dumps([(script, state) for _, script, state in asked]))
        command = [python, "-c", _RUNNER, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = json.loads(done.stdout.splitlines()[-1])
    pairs = zip(asked, shown, strict=True)
    wrong = [f"{words}: {why}" for (words, _, _), why in pairs if why]
    said = f"{len(asked) - len(wrong)} of {len(made)} show it in {framework}"
    sys.stdout.write("\n".join([said, *wrong, *unwritten, ""]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
