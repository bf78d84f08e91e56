"""What the engine does about an edit follows from what the edit touches. Counted, not timed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from unittest.mock import patch

import pytest

from gradstep.core.document.document import Document
from tests.bench import deriving
from tests.bench.deriving import DRAWN, Edits, Engine, rows, table
from tests.support.work import lines_run

# What works on one operation, variable or step.
_EACH = (
    "core/ops/typing/inference.py Inferrer.infer",
    "core/autodiff/reverse/backward_pass.py BackwardPass.visit",
    "core/train/update_ops.py Update.apply",
    "core/engine/run/variable_store.py set_first",
    "core/engine/plan/incremental.py IncrementalResolver._take_one",
    "core/engine/calls/bound_calls.py bind_call",
)


@cache
def _opened(ops: int) -> tuple[Document, Engine]:
    document = DRAWN["network"](ops)
    engine = Engine(document)
    engine.cost(document)
    return document, engine


def _work(ops: int, kind: str) -> dict[str, int]:
    """Lines that an edit and its undoing run of each of these."""
    document, engine = _opened(ops)
    edited = Edits(document).all()[kind]
    with patch.object(deriving, "cpu_seconds", _untimed):
        counts = lines_run(lambda: (engine.cost(edited), engine.cost(document)))
    return {name: counts[name] for name in _EACH}


def _untimed(work: Callable[[], object]) -> float:
    """And so without collecting garbage before each stage."""
    work()
    return 0.0


@pytest.mark.parametrize("kind", ["stop", "override", "attribute", "rename", "control"])
@pytest.mark.slow
def test_an_edit_works_on_what_it_touches(kind: str) -> None:
    """As much in a graph of four times the operations, but for a sum or two more."""
    small, large = _work(120, kind), _work(480, kind)
    assert all(large[name] <= 1.1 * small[name] + 20 for name in _EACH), (small, large)


def test_the_table_and_the_rows_name_every_stage() -> None:
    document, engine = _opened(60)
    found = {"network": {1_000: {f"stop: {k}": 0.5 for k in engine.cost(document)}}}
    assert table(found["network"]).count("stop: ") == 5
    assert rows(found)[-1] == {
        "name": "network, 1,000 operations: stop: all",
        "value": 0.5,
        "target": 0.016,
        "met": False,
    }
