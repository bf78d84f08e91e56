"""The passes that may round otherwise: each within the bound that it declares, and no further."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.layouts import PASSES, Case, passes, run
from tests.support.small_workloads import workload

ROUNDING = [p.name for p in PASSES if p.differs]
PRODUCTS, SUMS = "batching of LSTM input projections", "gradients of shared weights in one product"
sizes = st.integers(1, 9)


def test_the_bounds_below_are_those_that_are_declared() -> None:
    assert ROUNDING == [PRODUCTS, SUMS]
    for each in PASSES:
        assert not each.differs or "number" in each.differs
        assert not each.differs or "type's epsilon" in each.differs


def within(case: Case, name: str, terms: int, size: dict[TensorRef, np.ndarray]) -> bool:
    """Whether the pass `name` alone changes each fetch by no more than `terms` times epsilon of
    `size`, the sum of the terms' sizes; and whether it did anything is the result."""
    (want,) = run(case, fast=False, runs=1)
    with passes({name, "dead code"}):
        (have,) = run(case, fast=True, runs=1)
    assert want.error == have.error == ""
    for ref, sum_of_sizes in size.items():
        dtype, shape, content = want.fetched[ref]
        a = np.frombuffer(content, dtype).reshape(shape)
        b = np.frombuffer(have.fetched[ref][2], dtype).reshape(shape)
        assert (abs(a - b) <= terms * np.finfo(a.dtype).eps * sum_of_sizes).all(), ref
    return want != have


@given(sizes, sizes, sizes, st.integers(2, 7), st.sampled_from(("float32", "float64")))
def test_batched_products(rows: int, inner: int, width: int, count: int, dtype: str) -> None:
    random = np.random.default_rng(rows + 10 * inner + 100 * width)
    b = GraphBuilder()
    w = random.normal(size=(inner, width)).astype(dtype)
    weight = b.placeholder("w", dtype, w.shape)
    feeds, size = {weight.ref: w}, {}
    for i in range(count):
        x = random.normal(size=(rows, inner)).astype(dtype)
        given_x = b.placeholder(f"x{i}", dtype, x.shape)
        feeds[given_x.ref] = x
        size[tf.matmul(given_x, weight).ref] = abs(x) @ abs(w)
    within(Case(b.build(), tuple(size), (), feeds), PRODUCTS, inner, size)


@given(sizes, sizes, sizes, st.integers(3, 7), st.sampled_from(("float32", "float64")))
def test_sums_of_products(rows: int, height: int, width: int, count: int, dtype: str) -> None:
    """As the gradient of a weight that was used more than once."""
    random = np.random.default_rng(rows + 10 * height + 100 * width)
    b = GraphBuilder()
    feeds, terms, total = {}, [], np.zeros((height, width))
    for i in range(count):
        pair = [random.normal(size=(rows, n)).astype(dtype) for n in (height, width)]
        x, g = (b.placeholder(f"{n}{i}", dtype, a.shape) for n, a in zip("xg", pair, strict=True))
        feeds |= {x.ref: pair[0], g.ref: pair[1]}
        terms.append(tf.matmul(x, g, transpose_a=True))
        total += abs(pair[0]).T @ abs(pair[1])
    y = b.one("AddN", *terms)
    within(Case(b.build(), (y.ref,), (), feeds), SUMS, rows * count, {y.ref: total})


@pytest.mark.parametrize("name", ROUNDING)
def test_training_stays_where_it_was(name: str) -> None:
    """An LSTM, whose plan every one of them changes."""
    case = workload("w6")
    want = run(case, fast=False)
    with passes({name, "dead code"}):
        have = run(case, fast=True)
    for a, b in zip(want, have, strict=True):
        for variable, (dtype, _, content) in a.variables.items():
            x, y = (np.frombuffer(c, dtype) for c in (content, b.variables[variable][2]))
            np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-6)
    assert want != have or name == PRODUCTS
