"""Products over axes of JAX: dot_general."""

from __future__ import annotations

import string
from collections.abc import Sequence

from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.lax.lax_operands import cast, rank
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.ops.build.builder import Tensor, call

Axes = Sequence[int]


@lower("dot_general")
def dot_general(
    site: Site,
    lhs: Tensor,
    rhs: Tensor,
    dimension_numbers: Sequence[Sequence[Axes]],
    preferred_element_type: ElementType | None = None,
) -> Tensor:
    """Summed over pairs of axes; others are there once, and what is left is behind them."""
    a, b = cast(lhs, site.dtype()), cast(rhs, site.dtype())
    (left, right), (batch_a, batch_b) = dimension_numbers
    if rank(a) == rank(b) == 2 and len(left) == 1:
        return call("MatMul", a, b, transpose_a=left[0] == 0, transpose_b=right[0] == 1)
    return call("Einsum", a, b, equation=_equation(rank(a), rank(b), (left, right, batch_a, batch_b)))


def _equation(count_a: int, count_b: int, axes: Sequence[Axes]) -> str:
    left, right, batch_a, batch_b = axes
    letters = iter(string.ascii_letters)
    a = [next(letters) for _ in range(count_a)]
    b = [next(letters) for _ in range(count_b)]
    for i, j in zip([*left, *batch_a], [*right, *batch_b], strict=True):
        b[j] = a[i]
    own = [letter for i, letter in enumerate(a) if i not in (*left, *batch_a)]
    others = [letter for j, letter in enumerate(b) if j not in (*right, *batch_b)]
    batch = [a[i] for i in batch_a]
    return f"{''.join(a)},{''.join(b)}->{''.join((*batch, *own, *others))}"
