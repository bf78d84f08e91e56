"""Einstein's summation of one tensor or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.catalogue.linalg.einsum_equation import (
    Labels,
    parse_equation,
    sizes_of_labels,
)
from gradstep.core.ops.catalogue.linalg.einsum_gradient import gradient
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import COMPLEX, FLOATS, only
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op


def _type(ctx: InferContext) -> TensorType:
    equation = parse_equation(_text(ctx.attr("equation")), len(ctx.types))
    dtype, shapes = one_dtype(ctx), [kind.shape.dims for kind in ctx.types]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return TensorType(dtype, UNKNOWN)
    labels, out = equation.labels([len(shape) for shape in known])
    sizes = sizes_of_labels(labels, known)
    return TensorType(dtype, Shape(tuple(sizes[label] for label in out)))


def _text(equation: Any) -> str:
    return equation.decode() if isinstance(equation, bytes) else str(equation)


def _einsum(xp: Any, *operands: Any, equation: str) -> Any:
    labels, out = parse_equation(_text(equation), len(operands)).labels([x.ndim for x in operands])
    sizes_of_labels(labels, [x.shape for x in operands])
    once = tuple(dict.fromkeys(out))
    if len(operands) == 1:
        result = _in_order(xp, *_reduced(xp, operands[0], labels[0], once), once)
    else:
        wanted = [{*once, *other} for other in reversed(labels)]
        pairs = zip(operands, labels, wanted, strict=True)
        result = _product(xp, [_reduced(xp, *each) for each in pairs], once)
    return _spread(xp, result, once, out)


def _reduced(xp: Any, x: Any, labels: Labels, wanted: Any) -> tuple[Any, Labels]:
    """`x` with each label once, and summed over those that nobody wants."""
    once = tuple(dict.fromkeys(labels))
    if once != labels:
        x = x[_places(xp, once, labels, x.shape)]
    gone = tuple(i for i, label in enumerate(once) if label not in wanted)
    kept = tuple(label for label in once if label in wanted)
    return (xp.sum(x, axis=gone, dtype=x.dtype), kept) if gone else (x, kept)


def _places(xp: Any, once: Labels, labels: Labels, shape: Sequence[int]) -> tuple[Any, ...]:
    """For a tensor with these labels, the index of the diagonals where equal labels meet."""
    sizes = dict(zip(labels, shape, strict=True))
    return tuple(
        xp.arange(sizes[label]).reshape([-1 if label == other else 1 for other in once])
        for label in labels
    )


def _in_order(xp: Any, x: Any, labels: Labels, wanted: Labels) -> Any:
    """The axes of `x` in the order of `wanted`, which may name more: of size 1."""
    x = xp.transpose(x, [labels.index(label) for label in wanted if label in labels])
    sizes = iter(x.shape)
    return x.reshape([next(sizes) if label in labels else 1 for label in wanted])


def _product(xp: Any, operands: list[tuple[Any, Labels]], out: Labels) -> Any:
    """Of two operands without traces or sums of their own: a product of matrices."""
    (a, of_a), (b, of_b) = operands
    batch = [x for x in out if isinstance(x, int) or (x in of_a and x in of_b)]
    summed = [x for x in of_a if x in of_b and x not in out]
    rows = [x for x in of_a if x not in (*batch, *summed)]
    columns = [x for x in of_b if x not in (*batch, *summed)]
    a = _in_order(xp, a, of_a, (*batch, *rows, *summed))
    b = _in_order(xp, b, of_b, (*batch, *summed, *columns))
    kept = a.shape[len(batch) : a.ndim - len(summed)], b.shape[len(batch) + len(summed) :]
    inner = _count(a.shape[a.ndim - len(summed) :])
    product = xp.matmul(
        a.reshape(*a.shape[: len(batch)], _count(kept[0]), inner),
        b.reshape(*b.shape[: len(batch)], inner, _count(kept[1])),
    )
    product = product.reshape((*product.shape[: len(batch)], *kept[0], *kept[1]))
    return _in_order(xp, product, (*batch, *rows, *columns), out)


def _count(sizes: Sequence[int]) -> int:
    return int(np.prod(sizes, dtype=np.int64))


def _spread(xp: Any, x: Any, once: Labels, out: Labels) -> Any:
    """`x` on the diagonals of zeros where a label of the result is repeated."""
    if once == out:
        return x
    sizes = dict(zip(once, x.shape, strict=True))
    shape = [sizes[label] for label in out]
    spread = xp.zeros(shape, dtype=x.dtype)
    spread[_places(xp, once, out, shape)] = x
    return spread


_EXAMPLES: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("ij->ji", ((2, 3),)),
    ("ij->", ((2, 3),)),
    ("ijk->ik", ((2, 3, 2),)),
    ("ijk->ki", ((2, 3, 2),)),
    ("ii->", ((3, 3),)),
    ("ii->i", ((3, 3),)),
    ("aab->ba", ((2, 2, 3),)),
    ("i->ii", ((3,),)),
    ("i...->...i", ((2, 3, 2),)),
    ("...ij->...j", ((2, 2, 3),)),
    ("ij,jk->ik", ((2, 3), (3, 2))),
    ("ij,jk->ki", ((2, 3), (3, 2))),
    ("bij,bjk->bik", ((2, 2, 3), (2, 3, 2))),
    ("i,j->ij", ((2,), (3,))),
    ("i,i->", ((3,), (3,))),
    ("i,ij->", ((3,), (3, 2))),
    ("ijk,j->i", ((2, 3, 2), (3,))),
    ("abc,cd->ad", ((2, 3, 2), (2, 2))),
    ("iij,jk->ik", ((2, 2, 3), (3, 2))),
    ("ij,jk->ikk", ((2, 3), (3, 2))),
    (",i->i", ((), (3,))),
    ("...ij,...jk->...ik", ((2, 1, 1, 3), (2, 3, 2))),
    ("...ij,jk->...ik", ((2, 2, 3), (3, 2))),
    ("i...,...i->...", ((2, 3), (1, 2))),
)


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample(tuple(rng.normal(size=shape) for shape in shapes), {"equation": equation})
        for equation, shapes in _EXAMPLES
    ]


op(
    "Einsum",
    inputs="inputs*",
    attrs={"equation": str},
    type_attrs={"N": "len(inputs)", "T": "inputs"},
    formula="summed_by_labels(equation, inputs)",
    infer=only((*FLOATS, *COMPLEX, DType.INT32, DType.INT64), _type),
    kernel=_einsum,
    gradient=gradient,
    samples=_samples,
    arithmetic="product",
    doc="Sums of products, said by an equation: a letter names an axis, and what is not on the "
    "right is summed over; ij,jk->ik is the product of two matrices.",
)
