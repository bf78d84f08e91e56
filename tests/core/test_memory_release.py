"""What earlier documents left is let go once another one is open."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from gradstep.core import memory_release
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.suggestions import _Name, near
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.ops.typing import input_fit, type_memo
from gradstep.core.ops.typing.inference import infer
from gradstep.core.program.trust.example_index import EXAMPLES

ROOT = Path(__file__).parents[2]


class Knot:
    """An object in a cycle."""

    def __init__(self) -> None:
        self.itself = self


def remembers() -> list[int]:
    return [
        len(type_memo._answers),
        len(type_memo._shared),
        len(input_fit._known),
        _Name.of.cache_info().currsize,
    ]


def fill() -> dict[TensorRef, TensorType]:
    """Every memo; the types of a graph."""
    graph = load(EXAMPLES / "tutorial.gradstep").graph
    types = infer(graph).types
    near("negg", ["neg"])
    op = next(op for op in graph if len(op.inputs) == 2)
    input_fit.misfit(op, 0, [types.get(ref) for ref in op.inputs if ref is not None])
    return dict(types.of)


def test_memos_are_emptied_and_filled_again_with_the_same() -> None:
    before = fill()
    assert all(remembers())
    memory_release.release_memory()
    assert not any(remembers())
    assert fill() == before
    assert all(remembers())


def test_cycles_go() -> None:
    enabled = gc.isenabled()
    gc.disable()
    try:
        seen = weakref.ref(Knot())
        assert seen() is not None
        memory_release.release_memory()
        assert seen() is None
    finally:
        if enabled:
            gc.enable()


FREED = """
import os
from gradstep.core import memory_release
from tests.soak.memory import resident

blocks = [bytes(60_000) for _ in range(2000)]
del blocks[:-1]  # the last one, which lies behind the free ones, keeps them from going
before = resident(os.getpid())
memory_release.return_free_pages()
print(before - resident(os.getpid()))
"""


@pytest.mark.skipif(memory_release._trim() is None, reason="asks the C library of Linux")
def test_free_pages_go_back() -> None:
    """In a process whose memory has no holes."""
    run = [sys.executable, "-c", FREED]
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert float(found.stdout) > 80  # MiB


def test_elsewhere_nothing_is_called(monkeypatch: Any) -> None:
    memory_release._trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "win32")
    try:
        memory_release.return_free_pages()
        assert memory_release._trim() is None
    finally:
        memory_release._trim.cache_clear()
