"""How much work something is, counted and not timed: the lines of Python that it runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_CORE = str(Path(__file__).parents[2] / "core")


def lines_run(work: Callable[[], object]) -> Counter[str]:
    """By function of `core`, "engine/plan.py compile_plan". What loops in C is one line."""
    counts: Counter[CodeType] = Counter()

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            counts[frame.f_code] += 1
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(_CORE):
            return None
        counts[code] += 1
        return line

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    found: Counter[str] = Counter()
    for code, count in counts.items():
        found[f"{code.co_filename.removeprefix(_CORE)[1:]} {code.co_qualname}"] += count
    return found
