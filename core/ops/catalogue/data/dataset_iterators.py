"""The iterators of tf.data, whose elements have to be fed.

Gradstep runs no datasets: what an iterator gives is of the types and shapes that it says.
"""

from __future__ import annotations

from typing import Any, NoReturn

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Resource, Stateful
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.state.dataset_iterator import Iterator

_KINDS = {"output_types": tuple, "output_shapes": tuple}


def _elements(ctx: InferContext) -> tuple[TensorType, ...]:
    """The types of what one element consists of."""
    types, shapes = ctx.attr("output_types"), ctx.attr("output_shapes")
    if len(types) != len(shapes):
        raise ctx.fail(f"there are {len(types)} output_types, but {len(shapes)} output_shapes")
    return tuple(TensorType(DType(t), Shape(s.dims)) for t, s in zip(types, shapes, strict=True))


def _handle(ctx: InferContext) -> TensorType:
    return TensorType(DType.RESOURCE, SCALAR, holds=_elements(ctx), handle="iterator")


def _next(xp: Any, iterator: Iterator, *, op: Operation) -> NoReturn:
    outputs = ", ".join(f"'{op.output(i).short}'" for i in range(len(op.attrs["output_types"])))
    raise GradstepError(
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
        "the initializer operation for this iterator before getting the next element.",
        kind="FailedPreconditionError",
        hint=f"Gradstep runs no datasets: feed {outputs}",
    )


for _type, _more, _doc in (
    ("IteratorV2", {"shared_name": "", "container": ""}, "An iterator over a dataset."),
    ("OneShotIterator", {"shared_name": "", "container": ""}, "An iterator that starts by itself."),
):
    op(
        _type,
        outputs="handle",
        attrs={**_KINDS, **_more},
        infer=_handle,
        state=Resource(lambda op: Iterator()),
        gradient=NOT_DIFFERENTIABLE,
        doc=_doc,
        differs="it has no elements: what is taken from it has to be fed",
    )
op(
    "IteratorGetNext",
    inputs="iterator:iterator",
    outputs="components*",
    attrs=_KINDS,
    infer=_elements,
    kernel=_next,
    state=Stateful(),
    doc="The next element of an iterator.",
    differs="it has to be fed; TensorFlow takes it from the dataset",
)
