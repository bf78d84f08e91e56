"""From the start of the process to a window that can be used. Files are in the system's cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from tests.bench.choices import Choices, say
from tests.bench.environments import ROOT
from tests.bench.rows import Row
from tests.bench.spread import Spread
from tests.bench.targets import STARTING

_LONGEST = 60  # seconds until something is wrong


def rows(choices: Choices) -> list[Row]:
    """One start more than counted, to fill the caches."""
    starts: list[dict[str, Any]] = []
    try:
        for number in range(choices.repeats + 1):
            say(f"start {number}")
            starts.append(_start())
    except (subprocess.SubprocessError, ValueError) as error:
        return [Row(t.name, t.target, t.unit, None, str(error), fault=True) for t in STARTING]
    values = {
        **{key: [each[key] for each in starts[1:]] for key in ("painted", "seconds", "deaf")},
        "heavy": [float(len(each["heavy"])) for each in starts],
    }
    heavy = sorted({name for each in starts for name in each["heavy"]})
    return [
        Row(t.name, t.target, t.unit, Spread.of(values[t.key]), _list(t.key, heavy))
        for t in STARTING
    ]


def _list(key: str, heavy: list[str]) -> str:
    return ", ".join(heavy) if key == "heavy" else ""


def _start() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.first_paint", repr(time.monotonic())],
            cwd=ROOT,
            env=without_settings(home),
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return found


def without_settings(home: str) -> dict[str, str]:
    """No settings or unsaved work of the user's; on a display if there is one. Bytecode is kept
    from one start to the next, as wherever the program is used."""
    folders = ("CONFIG", "DATA", "STATE", "CACHE")
    own = {f"XDG_{name}_HOME": os.path.join(home, name.lower()) for name in folders}
    if not any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        own |= {"QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "default.warning=false"}
    kept = {name: said for name, said in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | own
