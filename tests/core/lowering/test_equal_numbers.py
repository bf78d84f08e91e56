"""Where two numbers are equal, a maximum's gradient is PyTorch's: half for each."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.traces.traced_document import tables
from gradstep.core.lowering.foreign_graph import (
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignTensor,
)
from gradstep.core.lowering.lowered_graph import Lowered, lower

A, B = np.array([1, 2, 3, np.nan], np.float32), np.array([1, 5, 0, 2], np.float32)


def lowered(op: str, a: np.ndarray, b: np.ndarray, recorded: bool = True) -> Lowered:
    kept = {"a": a, "b": b}
    inputs = [
        ForeignInput(name, "input", ForeignTensor("float32", x.shape, x if recorded else None))
        for name, x in kept.items()
    ]
    args = {"self": ForeignRef("a"), "other": ForeignRef("b")}
    node = ForeignNode("m", op, args, (ForeignTensor("float32", a.shape),))
    return lower(ForeignGraph("torch", "", tuple(inputs), (node,), ()), tables)


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize(
    ("op", "value", "first"),
    [
        ("aten.maximum.default", [1, 5, 3, np.nan], [0.5, 0, 1, 0.5]),
        ("aten.minimum.default", [1, 2, 0, np.nan], [0.5, 1, 0, 0.5]),
    ],
)
def test_each_gets_half(op: str, value: list[float], first: list[float], recorded: bool) -> None:
    """As torch.maximum and torch.minimum gave it; NaN goes through."""
    done = lowered(op, A, B, recorded)
    out = done.tensors[ForeignRef("m")]
    derived = differentiate(
        done.graph, GradientRequest(of=(out,), wrt=(TensorRef("a"), TensorRef("b")))
    )
    both = [derived.gradients[TensorRef(name)] for name in "ab"]
    assert None not in both
    found = Session(derived.graph).run([out, *[g for g in both if g]], {"a:0": A, "b:0": B})
    np.testing.assert_array_equal(found[0], np.array(value, np.float32))
    np.testing.assert_array_equal(found[1][:3], np.array(first, np.float32)[:3])
    np.testing.assert_array_equal(found[1][:3] + found[2][:3], np.ones(3, np.float32))


def test_where_none_are_equal_it_is_one_operation() -> None:
    done = lowered("aten.maximum.default", A[1:3], B[1:3])
    assert [op.type for op in done.graph if op.name.startswith("m/")] == ["Maximum"]
