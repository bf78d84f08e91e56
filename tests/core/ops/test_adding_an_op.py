"""docs/adding-an-op.md, followed to the letter: its code is a module that passes every check."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.table import OpDef, find, lookup
from tests.support import gradient_checks, op_cases, op_checks
from tests.support.interpret import evaluate

PAGE = Path(__file__).parents[3] / "docs" / "adding-an-op.md"


@pytest.fixture
def squareplus() -> Iterator[OpDef]:
    """The page's op, declared in a module of its own, and gone afterwards."""
    (source,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    assert find("Squareplus") is None
    module = ModuleType("gradstep.core.ops.squareplus")
    sys.modules[module.__name__] = module
    exec(compile(source, str(PAGE), "exec"), module.__dict__)
    yield lookup("Squareplus")
    del table._TABLE["Squareplus"], sys.modules[module.__name__]


def test_the_pages_op_passes_every_check(squareplus: OpDef) -> None:
    assert squareplus.family == "squareplus"
    op_checks.check_op(squareplus)
    levels = (op_cases.SIZES_UNKNOWN, op_cases.NOTHING_KNOWN)
    gradient_checks.check_gradient(squareplus, levels)


def test_the_pages_op_runs(squareplus: OpDef) -> None:
    builder = GraphBuilder()
    y = builder.one("Squareplus", builder.constant([-1.5, 0.0, 1.5]))
    np.testing.assert_array_equal(evaluate(builder.build(), [y.ref])[0], [0.5, 1, 2])


def test_a_wrong_gradient_is_found(squareplus: OpDef) -> None:
    """The checks would not be worth much if they let this pass."""
    table._TABLE["Squareplus"] = replace(squareplus, gradient=Gradient(lambda op, g: g))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        gradient_checks.check_gradient(lookup("Squareplus"))
