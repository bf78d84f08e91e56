"""Numbers where JAX's primitives take tensors: each lowering takes them, or leaves it."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.model import TensorRef
from gradstep.core.io.traces.traced_document import tables
from gradstep.core.lowering import lowered_graph
from gradstep.core.lowering.foreign_graph import (
    CustomFunction,
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignTensor,
)
from gradstep.core.lowering.lax import LAX
from gradstep.core.lowering.lowering_table import Lowering
from tests.support.each_case import check_each
from tests.support.foreign_operation import MADE, computed, lowered


def test_a_number_anywhere_leaves_the_file_readable() -> None:
    """Every lowering, each argument a number: what cannot be so stays as it was computed."""

    def check(case: tuple[str, Lowering]) -> None:
        name, lowering = case
        needed = [one.name for one in [*signature(lowering.build).parameters.values()][1:]
                  if one.default is Parameter.empty]  # fmt: skip
        for number in (1.0, 2):
            args: dict[str, Any] = dict.fromkeys(needed, number)
            done = lowered(f"lax.{name}", {}, np.ones((), np.float32), **args)
            assert isinstance(done.tensors[ForeignRef(MADE)], TensorRef)

    check_each(LAX, check, name=lambda case: case[0])


def test_what_takes_a_tensor_takes_a_number() -> None:
    """The element type is that of the result."""
    [found] = computed("lax.tile", {}, np.ones(3, np.float32), x=2, reps=[3])
    assert (found.dtype, [*found]) == (np.float32, [2, 2, 2])
    [found] = computed("lax.reduce_sum", {}, np.ones((), np.float32), x=2.5, axes=[])
    assert found == 2.5


def test_what_nobody_foresaw_stays_as_it_was_computed() -> None:
    """And says what it was."""
    x = np.ones(3, np.float32)
    done = lowered("lax.sort", {}, x, operands=["no", "tensors"], dimension=0)
    assert done.unlowered[MADE].startswith("AttributeError: 'str' object has no")
    [fed] = done.fed.values()
    np.testing.assert_array_equal(fed, x)


def test_a_rule_of_which_nobody_foresaw_something_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that it is a rule of is there."""

    def fails(*args: Any) -> None:
        raise AttributeError("no such thing")

    monkeypatch.setattr(lowered_graph, "gradient_source", fails)
    kind = ForeignTensor("float32", (3,))
    node = ForeignNode(MADE, "lax.sin", {"x": ForeignRef("x")}, (kind,), function="rule")
    rule = CustomFunction("rule", "", (ForeignRef("x"),), (ForeignRef(MADE),))
    done = lowered_graph.lower(
        ForeignGraph("jax", "one", (ForeignInput("x", "input", kind),), (node,), (),
                     functions={"rule": rule}),
        tables,
    )  # fmt: skip
    assert done.unwritten == {"rule": "AttributeError: no such thing"}
    assert "Sin" in {op.type for op in done.graph}
