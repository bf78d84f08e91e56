"""Products over axes of JAX: dot_general."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.lax.lax_operands import cast, rank
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lax_expressions import product_equation
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
    (left, right), (batch, _) = dimension_numbers
    if rank(a) == rank(b) == 2 and len(left) == 1 and not batch:
        return call("MatMul", a, b, transpose_a=left[0] == 0, transpose_b=right[0] == 1)
    return call("Einsum", a, b, equation=product_equation(rank(a), rank(b), dimension_numbers))
