"""Updates of slices and elements of a variable that vectors of indices name, ref or resource."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.catalogue.state.scatter_updates import WHOLE_OR_NOTHING, check_types
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.numerics import scatter
from gradstep.core.ops.numerics.index_bounds import check, no_such_row, refused_whole
from gradstep.core.ops.numerics.row_updates import flat_rows
from gradstep.core.ops.numerics.scatter import Combine, combine_rows

_POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


def _check_shapes(ref: Shape, indices: Shape, updates: Shape) -> None:
    """Updates are [*indices.shape[:-1], *ref.shape[depth:]]. Raises GradstepError."""
    if ref.dims is None or indices.dims is None or indices.dims[-1:] == (None,):
        return
    depth = indices.dims[-1] if indices.dims else 0
    wanted = Shape((*indices.dims[:-1], *ref.dims[depth:]))
    try:
        assert depth is not None
        if depth > len(ref.dims):
            raise ValueError
        wanted.merge(updates)
    except ValueError:
        outer = len(indices.dims) - 1
        raise GradstepError(
            f"Dimensions [{depth},{len(ref.dims)}) of input[shape={brackets(ref.dims)}] must match "
            f"dimensions [{outer},{updates.rank}) of updates[shape={brackets(updates.dims)}]",
            hint=f"indices of shape {indices} need updates of shape {wanted}",
        ) from None


def _scattered(ctx: InferContext, numbers: bool) -> TensorType | tuple[TensorType, ...]:
    check_types(ctx, numbers)
    if 0 in (ctx.types[1].shape.rank, ctx.types[2].shape.rank):
        raise ctx.fail("Shape must be at least rank 1 but is rank 0")
    _check_shapes(*(kind.shape for kind in ctx.types))
    if not ctx.definition.outputs:
        return ()
    return TensorType(ctx.types[0].dtype, ctx.types[0].shape, ref=True)


def _places(indices: np.ndarray, dims: tuple[int, ...], policy: str, rules: Rules) -> np.ndarray:
    """Where the vectors point in the leading dimensions, all in one line; -1 where nowhere."""
    depth = indices.shape[-1]
    rows, outside = flat_rows(np, indices, dims[:depth], policy, rules.negative_ok)
    if policy == "raise":
        check(np, outside, lambda place: refused_whole(no_such_row(indices, place, dims)))
    return np.where(outside, -1, rows).reshape(-1)


def _kernel(combine: Combine) -> Callable[..., Any]:
    def kernel(
        xp: Any,
        ref: Any,
        indices: Any,
        updates: Any,
        *,
        bad_indices_policy: str,
        rules: Rules = TF_CPU,
    ) -> Any:
        dims, depth = ref.shape, indices.shape[-1]
        _check_shapes(*(Shape(tuple(x.shape)) for x in (ref, indices, updates)))
        policy = "zero" if bad_indices_policy == "IGNORE" else rules.scatter
        places = _places(indices, dims, policy, rules)
        inner = dims[depth:]
        if 0 in dims or not places.size:
            return xp.array(ref)
        flat = ref.reshape((-1, *inner))
        new = combine_rows(xp, flat, places, updates.reshape((places.size, *inner)), combine)
        return new.reshape(dims)

    return kernel


def _samples(rng: np.random.Generator) -> list[Sample]:
    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    return [
        Sample((draw(4, 2), ints([2], [0], [2]), draw(3, 2))),
        Sample((draw(3, 2), np.array([[1, 1], [0, 1], [1, 1]], np.int64), draw(3))),
        Sample((draw(5), ints([[1], [4]], [[1], [0]]), draw(2, 2))),
        Sample((draw(3), np.zeros((0, 1), np.int32), draw(0))),
    ]


# Op -> how places change, whether TensorFlow declares that it has no gradient, and in words.
_KINDS = {
    "Update": (scatter.replace, "new", True, "Replace parts of a variable"),
    "Add": (scatter.add, "old + new", True, "Add to parts of a variable"),
    "Sub": (scatter.subtract, "old - new", True, "Subtract from parts of a variable"),
    "Min": (scatter.smaller, "minimum(old, new)", False, "Make parts of a variable no larger"),
    "Max": (scatter.larger, "maximum(old, new)", False, "Make parts of a variable no smaller"),
}

for _kind, (_combine, _rule, _declared, _doc) in _KINDS.items():
    op(
        f"ScatterNd{_kind}",
        inputs="&ref #indices updates",
        outputs="&output_ref",
        attrs={"use_locking": _kind == "Update", "bad_indices_policy": ""},
        choices={"bad_indices_policy": _POLICIES},
        type_attrs={"T": "updates", "Tindices": "indices"},
        formula=f"point_by_point('{_rule}', ref, indices, updates)",
        infer=partial(_scattered, numbers=_kind != "Update"),
        kernel=_kernel(_combine),
        state=Writes((0,)),
        gradient=NOT_DIFFERENTIABLE if _declared else None,
        samples=_samples,
        arithmetic="reducing",
        doc=f"{_doc}, one index vector after the other; the output is the variable's buffer.",
        differs=WHOLE_OR_NOTHING,
    )
    op(
        f"ResourceScatterNd{_kind}",
        inputs="ref:variable #indices updates",
        outputs="",
        attrs={"use_locking": True, "bad_indices_policy": ""},
        choices={"bad_indices_policy": _POLICIES},
        type_attrs={"T": "updates", "Tindices": "indices"},
        formula=f"point_by_point('{_rule}', ref, indices, updates)",
        infer=partial(_scattered, numbers=_kind != "Update"),
        kernel=_kernel(_combine),
        state=Writes((0,)),
        gradient=NOT_DIFFERENTIABLE,
        samples=_samples,
        arithmetic="reducing",
        doc=f"{_doc}, one index vector after the other.",
        differs=WHOLE_OR_NOTHING,
    )
