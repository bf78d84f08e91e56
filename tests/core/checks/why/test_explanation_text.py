"""How what was found is said, and what is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.explain.why_answer import Link
from gradstep.core.checks.why.explanation_text import (
    norm,
    operands,
    others,
    stopper_fix,
    stopper_link,
)
from gradstep.core.checks.why.lost_cotangents import is_alive
from gradstep.core.checks.why.recorded_vjp import Leaf
from gradstep.core.checks.why.zero_gradient import Stopper
from gradstep.core.graph.model import Operation, Phase, TensorRef
from tests.support.each_case import each_of


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (-1, ""),
        (0, ""),
        (1, " 1 other way back leads to nothing, too."),
        (2, " 2 other ways back lead to nothing, too."),
    ],
)
def test_other_ways(count: int, said: str) -> None:
    assert others(count) == said


def test_operands_of_an_operation_that_nobody_knows_are_shown() -> None:
    op = Operation("y", "NoSuchOperation", (TensorRef("x"), TensorRef("z")))
    assert operands(op, [f32(1), f32(2)], (0,)) == "x = 1, z = 2"


def test_what_has_no_name_of_its_own_is_named_by_what_it_is_in() -> None:
    """On the way back: what was made beside it without the scope, other things with it."""
    refs = (TensorRef("g/y_grad/a"), TensorRef("g/other/b"), TensorRef("x"))
    op = Operation("g/y_grad/AddN", "AddN", refs, phase=Phase.BACKWARD)
    arrays = [f32(1), f32(2), f32(3)]
    assert operands(op, arrays, (0,)) == "its a = 1, g/other/b = 2, x = 3"
    named = {refs[1]: "d loss / d y"}
    assert operands(op, arrays, (0,), named) == "its a = 1, d loss / d y = 2, x = 3"
    forward = Operation("g/y_grad/AddN", "AddN", refs)
    assert operands(forward, arrays, (0,)) == "g/y_grad/a = 1, g/other/b = 2, x = 3"


@each_of(
    ("array", "at", "is_it"),
    [
        (None, None, False),
        (None, (0,), False),
        (f32(0, 1), None, True),
        (f32(0, 0), None, False),
        (f32(0, 1), (1,), True),
        (f32(0, 1), (0,), False),
        (f32(0, 1), (0, 0), True),  # of another shape: all of it
        (np.float32(2), (0,), True),
        (np.array(2.0), (), True),
        (np.array(0.0), (), False),
    ],
)
def test_what_is_alive(array: Any, at: Any, is_it: bool) -> None:
    assert is_alive(None if array is None else np.asarray(array), at) is is_it


def test_norms_of_small_and_large() -> None:
    assert norm(np.array([3e30, 4e30], np.float32)) == "5e+30"
    assert norm(f32()) == "0"


class _Nobody:
    """Who stands nowhere."""

    def stands(self, ran: object) -> None:
        return None


class _Run:
    rank = (3,)

    def position(self, step: int) -> str:
        return f"3:{step + 1}"


class _Somebody(_Nobody):
    def stands(self, ran: object) -> Any:
        return self


class _Level:
    ran, loop, iteration = _Run(), None, ((2, "while"),)


@pytest.mark.parametrize(
    ("there", "step", "place"),
    [(_Nobody(), 4, (None, "")), (_Somebody(), 4, (3, "3:5")), (_Somebody(), None, (3, ""))],
)
def test_where_one_can_go_to_see_it(there: Any, step: int | None, place: tuple[Any, str]) -> None:
    op = Operation("y", "Mul", (TensorRef("x"), TensorRef("m")))
    level: Any = _Level()
    stopper = Stopper(level, op, "zero_factor", (1,), operand=TensorRef("m"), step=step)
    link = stopper_link(stopper, [f32(5, 6), None], there)
    assert (link.run, link.position) == place
    assert (link.node, link.operand, link.iterations) == ("y", "m", ((2, "while"),))
    assert link.text == (
        "a gradient arrives at y (Mul) at index [1] and none of it goes on, with x = 6: m is 0 "
        "there, in iteration 3 of while"
    )


@pytest.mark.parametrize(
    ("index", "leaf_index", "said"),
    [
        ((0,), (1,), "m = 6"),
        ((0,), None, "m = 5"),
        (None, None, "m lies in [5, 6]"),
        ((), (1,), "m = 6"),
    ],
)
def test_in_a_loop_what_is_to_blame_is_shown(index: Any, leaf_index: Any, said: str) -> None:
    """At the element that is, where one is known; of the operands no more is."""
    op = Operation("y", "Mul", (TensorRef("x"), TensorRef("m")))
    level: Any = _Level()
    leaf = Leaf(0, TensorRef("m"), f32(5, 6))
    stopper = Stopper(level, op, "zero_factor", index, leaf, leaf_index, TensorRef("m"))
    assert f"none of it goes on, with {said}: " in stopper_link(stopper, [], _Nobody()).text  # type: ignore[arg-type]


def test_what_to_do_names_what_was_given() -> None:
    """Where the zero was followed to that; else the operand itself."""
    level: Any = _Level()
    leaf = Leaf(0, TensorRef("m"), f32(0, 0))
    for type_, node, cause, said in (
        ("Mul", "w", "fed", "change w, if it is not to be a mask"),
        ("Mul", "w", "initial", "change w, if it is not to be a mask"),
        ("Mul", "w", "inactive", "change m, if it is not to be a mask"),
        ("MatMul", "w", "fed", "let w begin with other numbers, such as small random ones"),
        ("MatMul", "w", "zero_factor", "let m begin with other numbers, such as small random ones"),
    ):
        op = Operation("y", type_, (TensorRef("x"), TensorRef("m")))
        stopper = Stopper(level, op, "zero_factor", (0,), leaf, (0,), TensorRef("m"))
        link = Link(node, node, cause, None)
        assert stopper_fix(stopper, [link]) == f" To mend it, {said}."
    flat = Stopper(level, Operation("y", "MatMul", ()), "flat")
    assert stopper_fix(flat, [Link("y", "y", "flat", None)]) == (
        " To mend it, override it, if it is to learn."
    )
