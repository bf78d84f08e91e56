"""`tf.print` as a graph has it: TensorFlow's texts, where they go, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.formats.element_text import ends
from gradstep.core.ops.state.print_output import printing_to
from tests.support.each_case import each_of

CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@each_of(
    ("array", "entries", "text"),
    [
        (np.float32(1.5), 3, "1.5"),
        (np.arange(10), 3, "[0 1 2 ... 7 8 9]"),
        (CUBE, 1, "[[[0 ... 3]\n  ...\n  [8 ... 11]]\n\n [[12 ... 15]\n  ...\n  [20 ... 23]]]"),
        (CUBE[0], -1, "[[0 1 2 3]\n [4 5 6 7]\n [8 9 10 11]]"),
        (np.array([True, False]), 3, "[1 0]"),
        (np.array(["x", "y\n\"'z"], object), 3, '["x" "y\\n\\"\\\'z"]'),
        (np.array([1e-7, 1 / 3, np.nan, np.inf, -0.0, 1e20]), 2, None),
        (np.zeros(0), 3, "[]"),
        (np.zeros((2, 0)), 3, "[\n ...]"),
        (np.arange(6.0).reshape(2, 3), 0, "[\n ...]"),
        (np.full((2, 5), 1 + 2j), 3, "[? ? ?...]"),
    ],
)
def test_both_ends_of_each_dimension(array: Any, entries: int, text: str | None) -> None:
    assert ends(array, entries) == (text or "[1e-07 0.33333333333333331 ... -0 1e+20]")


@pytest.mark.parametrize("fast", [False, True])
def test_a_program_prints(fast: bool) -> None:
    b, said = GraphBuilder(), list[str]()
    x = b.placeholder("x", shape=[None])
    word = b.constant("ä".encode(), "string")
    text = b.one("StringFormat", x, word, template="x {}: {}", placeholder="{}")
    b.op("PrintV2", text, name="line", end="!")
    b.op("NoOp", name="step", control_inputs=["line"])
    with printing_to(said.append):
        Session(b.build(), fast=fast).run([], {"x": [0.5, 2]}, ["step"])
    assert said == ['x [0.5 2]: "ä"!']


def test_what_does_not_fit_is_refused() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", DType.STRING)
    with pytest.raises(GradstepError, match=r"num inputs must match: 2 vs\. 1"):
        b.op("StringFormat", x, template="%s%s")
    with pytest.raises(GradstepError, match="text: numbers go through a StringFormat"):
        b.op("PrintV2", b.constant(1.0))
    b.op("PrintV2", x, name="line")
    with pytest.raises(GradstepError, match="input must be a scalar, but has rank: 1"):
        Session(b.build()).run([], {"x": ["a", "b"]}, ["line"])
