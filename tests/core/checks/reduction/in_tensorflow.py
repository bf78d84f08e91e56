"""Whether the scripts of smallest graphs show in TensorFlow what was planted.

    HYPOTHESIS_PROFILE=thorough python -m tests.core.checks.reduction.in_tensorflow PYTHON

PYTHON has TensorFlow; prints how many of fifty do, and names those that do not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from gradstep.core.io.export_document import to_bytes
from tests.core.checks.reduction.test_reductions import COUNT, LOSS, large, of_what, smallest, why

_RUNNER = """
import json, sys
import numpy as np, tensorflow as tf
shown = {}
for number, (script, state, is_value) in enumerate(json.load(open(sys.argv[1]))):
    printed = []
    space = {"print": printed.append, "__name__": "script"}
    with tf.Graph().as_default():
        exec(script, space)
    ends = [printed[0]] if is_value else printed[1]
    if state == "none":
        shown[number] = any(each is None for each in space["gradients"])
    elif state == "zero":
        shown[number] = any(not np.asarray(each).any() for each in ends)
    else:
        shown[number] = any(not np.isfinite(np.asarray(each)).all() for each in ends)
print(json.dumps(shown))
"""


def main(python: str) -> None:
    scripts, words = [], []
    for seed in range(COUNT):
        document, name, plant = large(seed)
        wrt = of_what(document, plant)
        found = why(document, LOSS, wrt)
        small = smallest(document, found, LOSS, wrt)
        scripts.append((to_bytes(small, ".py").decode(), found.state, wrt is None))
        words.append(f"{name}: {found.state}, {len(document.graph)} -> {len(small.graph)}")
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "scripts.json"
        asked.write_text(json.dumps(scripts), encoding="utf-8")
        command = [python, "-c", _RUNNER, str(asked)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = json.loads(done.stdout.splitlines()[-1])
    wrong = [word for number, word in enumerate(words) if not shown[str(number)]]
    said = f"{len(words) - len(wrong)} of {len(words)} show it in TensorFlow"
    sys.stdout.write("\n".join([said, *wrong, ""]))


if __name__ == "__main__":
    main(sys.argv[1])
