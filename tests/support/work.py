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
    folders = [Path(package.__path__[0]) for package in (core, *also)]
    inside = tuple(f"{folder}/" for folder in folders)
    # By identity: to hash a piece of code takes as long as to run ten lines of it.
    known: dict[int, tuple[CodeType, _Lines | None]] = {}

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if id(code) not in known:
            mine = code.co_filename.startswith(inside)
            known[id(code)] = code, _Lines() if mine else None
        lines = known[id(code)][1]
        return None if lines is None else lines.called()

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    found: Counter[str] = Counter()
    for code, lines in known.values():
        if lines is None:
            continue
        folder = next(f for f in folders if code.co_filename.startswith(f"{f}/"))
        name = f"{Path(code.co_filename).relative_to(folder.parent)} {code.co_qualname}"
        found[name] += lines.count()
    return found


class _Lines:
    """Of one piece of code. called: counts a call, and gives what traces it; count: how many."""

    def __init__(self) -> None:
        total = 0

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal total
            if event == "line":
                total += 1
            return line

        def called() -> Any:
            nonlocal total
            total += 1
            return line

        self.called = called
        self.count = lambda: total
