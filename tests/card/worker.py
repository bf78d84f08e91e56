"""The child process: tries the tasks that come in, a line each, and answers with a line each."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from tests.card.device import Device, kind_for, open_device

# Kind of task -> the module whose `try_one(device, item)` does it. Those of a recording take the
# name of the library in place of a device.
ON_DEVICE = {
    "op": "op_trials",
    "example": "example_trials",
    "memory": "failure_trials",
    "assert": "failure_trials",
    "outputs": "example_outputs",
    "stand-in": "stand_in_trials",
    "random": "session_trials",
    "fast": "session_trials",
    "placed": "session_trials",
}
IN_LIBRARY = {"rule": "rule_rows", "cast": "cast_rows", "ulp": "function_errors"}


def main(kind: str, library: str) -> int:
    """Ends with 3 after an error of the card, which nothing in this process can mend."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    device: Device | None = None
    for line in sys.stdin:
        task = json.loads(line)
        what = task.split("|")[0]
        if what in ON_DEVICE:
            device = device or open_device(kind_for(kind, library))
            result = _function(ON_DEVICE[what])(device, task)
        else:
            result = _function(IN_LIBRARY[what])(kind, task)
        answers.write(json.dumps(result) + "\n")
        answers.flush()
        if isinstance(result, dict) and result.get("lost"):
            os._exit(3)  # destructors would wait for the card
    return 0


def _function(module: str) -> Callable[..., Any]:
    import importlib

    found: Callable[..., Any] = importlib.import_module(f"tests.card.{module}").try_one
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
