"""What few ops declare, in records of its own: each kind is read as all others are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, UNDECLARED, Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.op_state import Counter, PerRun, Resource, State, Stateful, Writes
from gradstep.core.ops.declare.result_memory import Elementwise, InPlace, Memory, Pieces
from gradstep.core.ops.declare.table import OpDef, all_ops
from gradstep.core.ops.declare.type_rules import unref
from gradstep.core.ops.state.opaque_state import OpaqueState

Declare = Callable[..., OpDef]


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Declares an op of two inputs, in a table that is thrown away."""
    monkeypatch.setattr(table, "_TABLE", {d.type: d for d in all_ops()})
    usual = {"inputs": "x y", "infer": unref, "doc": "A."}
    return lambda **fields: table.op("Made", **{**usual, **fields})


def _plain(xp: Any, x: Any, y: Any, *, axis: int) -> Any:
    return xp.add(x, y)


def _into(xp: Any, x: Any, y: Any, *, axis: int, out: Any) -> Any:
    return xp.add(x, y, out=out)


@pytest.mark.parametrize("kind", [Writes, Resource, PerRun, InPlace, Pieces])
def test_what_a_kind_is_about_has_to_be_said(kind: Any) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        kind()


def test_an_ordinary_op_says_nothing_of_them(declare: Declare) -> None:
    made = declare(kernel=_plain)
    assert made.kernel.keywords == ("axis",)
    assert made.kernel.out is made.kernel.calls is made.kernel.ufunc is None
    assert made.gradient is UNDECLARED
    assert type(made.memory) is Memory
    assert type(made.state) is State
    assert (made.is_pure, made.makes_versions, made.in_place) == (True, False, None)


@pytest.mark.parametrize(
    ("state", "pure", "makes"),
    [
        (State(), True, False),
        (Stateful(), False, False),
        (Writes((0,)), False, True),
        (Counter(), False, True),
        (Resource(lambda op: OpaqueState()), False, False),
        (PerRun(OpaqueState), False, True),
    ],
)
def test_what_an_op_touches_decides_what_may_be_done_with_it(
    declare: Declare, state: State, pure: bool, makes: bool
) -> None:
    made = declare(state=state)
    assert (made.is_pure, made.makes_versions) == (pure, makes)


def test_what_may_be_written_over(declare: Declare, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(kernel: Any, **fields: Any) -> tuple[int, ...] | None:
        monkeypatch.delitem(table._TABLE, "Made", raising=False)
        return declare(kernel=kernel, **fields).in_place

    into = Kernels(_plain, out=_into)
    assert found(into) == ()
    assert found(into, memory=InPlace("y")) == (1,)
    assert found(into, memory=Elementwise("y x")) == (1, 0)
    assert found(into, memory=Elementwise()) == ()
    assert found(ufunc("add")) is None


def test_a_list_of_calls_is_a_kernel_with_a_place(declare: Declare) -> None:
    def calls(xp: Any, x: Any, y: Any, *, axis: int, out: Any, room: Any) -> Iterator[Any]:
        yield xp.add, x, y, out

    made = declare(kernel=Kernels(_plain, calls=calls)).kernel
    assert made.out is not None
    np.testing.assert_array_equal(made.out(np, 1, 2, axis=0, out=np.empty(())), 3)


def test_a_ufunc_is_elementwise_and_its_arithmetic_known(declare: Declare) -> None:
    made = declare(kernel=ufunc("add"))
    assert made.memory.elementwise
    assert made.arithmetic == "rounded"


def test_an_output_that_is_the_first_inputs_buffer(declare: Declare) -> None:
    made = declare(inputs="&ref value", outputs="&output_ref")
    assert (made.outputs, made.aliases) == (("output_ref",), True)
    assert not table.lookup("Neg").aliases


def test_no_gradient_on_purpose_is_told_from_none(declare: Declare) -> None:
    assert not NOT_DIFFERENTIABLE.differentiable
    assert NOT_DIFFERENTIABLE.rule is not None
    assert UNDECLARED.rule is None
    assert declare(gradient=lambda op, g: g).gradient.differentiable
    assert table.lookup("While").gradient == Gradient()
