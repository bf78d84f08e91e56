"""How much work something is, counted and not timed: the lines of Python that it runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import gradstep.core as core


def lines_run(work: Callable[[], object], *also: ModuleType) -> Counter[str]:
    """By function of `core`, and of packages besides: "core/engine/plan/compile_plan.py
    compile_plan". What loops in C is one line."""
    counts: Counter[CodeType] = Counter()
    folders = [Path(package.__path__[0]) for package in (core, *also)]
    inside = tuple(f"{folder}/" for folder in folders)

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            counts[frame.f_code] += 1
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(inside):
            return None
        counts[frame.f_code] += 1
        return line

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    found: Counter[str] = Counter()
    for code, count in counts.items():
        folder = next(f for f in folders if code.co_filename.startswith(f"{f}/"))
        found[f"{Path(code.co_filename).relative_to(folder.parent)} {code.co_qualname}"] += count
    return found
