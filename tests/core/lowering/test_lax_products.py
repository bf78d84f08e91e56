"""JAX's dot_general over dimension numbers drawn at random: NumPy's product, and its slopes."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.foreign_operation import computed, slope


@dataclass(frozen=True)
class Product:
    """letters of the axes of both operands and of the result; numbers: as dot_general has them."""

    left: str
    right: str
    made: str
    sizes: dict[str, int]
    numbers: list[list[list[int]]]

    def operands(self, seed: int) -> list[np.ndarray]:
        drawn = np.random.default_rng(seed)
        shapes = [[self.sizes[axis] for axis in axes] for axes in (self.left, self.right)]
        return [drawn.integers(-4, 5, shape).astype(np.float32) for shape in shapes]


@st.composite
def products(draw: st.DrawFn) -> Product:
    """Up to two axes of each kind, in any order."""
    letters = iter(string.ascii_lowercase)

    def some() -> list[str]:
        return [next(letters) for _ in range(draw(st.integers(0, 2)))]

    batch, summed, own, other = some(), some(), some(), some()
    left, right = (
        draw(st.permutations(batch + summed + own)),
        draw(st.permutations(batch + summed + other)),
    )
    sizes = {axis: draw(st.integers(1, 3)) for axis in {*left, *right}}
    made = [*batch, *(x for x in left if x in own), *(x for x in right if x in other)]
    numbers = [[[side.index(x) for x in axes] for side in (left, right)]
               for axes in (summed, batch)]  # fmt: skip
    return Product("".join(left), "".join(right), "".join(made), sizes, numbers)


@given(products(), st.integers(0, 99))
def test_any_product(product: Product, seed: int) -> None:
    a, b = product.operands(seed)
    given_, args = {"lhs": a, "rhs": b}, {"dimension_numbers": product.numbers}
    wanted = np.einsum(f"{product.left},{product.right}->{product.made}", a, b)
    [found] = computed("lax.dot_general", given_, np.asarray(wanted), **args)
    np.testing.assert_array_equal(found, wanted)
    ones = np.ones_like(wanted)
    for name, equation, other in (
        ("lhs", f"{product.made},{product.right}->{product.left}", b),
        ("rhs", f"{product.made},{product.left}->{product.right}", a),
    ):
        by = slope("lax.dot_general", given_, np.asarray(wanted), name, **args)
        np.testing.assert_array_equal(by, np.einsum(equation, ones, other))


def test_a_product_with_a_number() -> None:
    """As the gradient of v @ v has it."""
    x, args = np.array([1, 2, 4], np.float32), {"dimension_numbers": [[[], []], [[], []]]}
    [found] = computed("lax.dot_general", {"rhs": x}, 3 * x, lhs=3.0, **args)
    np.testing.assert_array_equal(found, 3 * x)
    by: Any = slope("lax.dot_general", {"lhs": x}, 3 * x, "lhs", rhs=3.0, **args)
    np.testing.assert_array_equal(by, [3, 3, 3])
