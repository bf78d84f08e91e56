"""Adam's blocks that several threads share: the same bits however many there are."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.numerics import adam_calls
from tests.support.layouts import Case, assert_same, run
from tests.support.shared_work import in_lockstep, threads, used_memory


def trained(size: int, use_nesterov: bool) -> Case:
    draw = np.random.default_rng(size)
    build = GraphBuilder()
    initial = {
        name: np.abs(draw.standard_normal(size)).astype(np.float32) for name in ("var", "m", "v")
    }
    slots = [build.variable(name, "float32", (size,)) for name in initial]
    gradient = build.placeholder("g", shape=(size,))
    rates = [build.constant(np.float32(x)) for x in (0.5, 0.25, 0.1, 0.9, 0.99, 1e-3)]
    with build.as_default():
        step = call("ApplyAdam", *slots, *rates, gradient, use_nesterov=use_nesterov)
    feeds = {gradient.ref: draw.standard_normal(size).astype(np.float32)}
    return Case(build.build(), (step.ref,), (), feeds, initial)


@given(st.integers(100, 400), st.booleans(), st.booleans())
def test_threads_change_no_bit(size: int, use_nesterov: bool, fast: bool) -> None:
    case = trained(size, use_nesterov)
    whole = run(case, fast)
    assert not whole[0].error
    with used_memory(), patch.multiple(adam_calls, _BLOCK=30, _MANY=200):
        for count in (1, 2, 3):
            with threads(count):
                assert_same(whole, run(case, fast), f"{count} threads")
                with in_lockstep():
                    assert_same(whole, run(case, fast), f"{count} in lockstep")
