"""Ops that look at values while a run goes on: checks that fail it, and printing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Counter, Stateful
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real_floating, unref, wrong_type
from gradstep.core.ops.formats.element_text import summary
from gradstep.core.ops.state.print_output import say


def _check(xp: Any, tensor: Any, *, message: str, op: Any) -> Any:
    if xp.all(xp.isfinite(tensor)).item():
        return tensor
    raise GradstepError(
        f"{message} : Tensor had {_what(tensor, op.type == 'CheckNumericsV2')} values",
        hint="step back to the operation whose output has the first of them",
    )


def _what(tensor: Any, signs: bool) -> str:
    """Which values are not finite, in TensorFlow's words; `signs`: infinities by their sign."""
    values = np.asarray(tensor.get() if hasattr(tensor, "get") else tensor)
    kinds = {"-Inf": values == -np.inf, "+Inf": values == np.inf, "NaN": np.isnan(values)}
    if not signs:
        kinds = {"Inf": np.isinf(values), "NaN": kinds["NaN"]}
    found = [name for name, places in kinds.items() if places.any()]
    return "-Inf, +Inf, and NaN" if len(found) == 3 else " and ".join(found)


def _checked_gradient(op: OpView, g: Tensor) -> Tensor:
    own = str(op.get_attr("message")).encode()
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {own!r}"
    return call(op.type, g, message=message)


for _type, _doc in (
    ("CheckNumerics", "The same value; an error if any element is infinite or NaN."),
    ("CheckNumericsV2", "The same, and the error says which infinities there are."),
):
    op(
        _type,
        inputs="tensor",
        attrs={"message": str},
        type_attrs={"T": "tensor"},
        formula="tensor",
        infer=real_floating(unref),
        kernel=Kernels(_check, asks="whether there is NaN or an infinity"),
        gradient=_checked_gradient,
        state=Stateful(),
        samples=lambda rng: [Sample(s.inputs, {"message": "it"}) for s in unary()(rng)],
        arithmetic="exact",
        doc=_doc,
        kinks="the gradient is checked in the same way",
    )


def _asserted(ctx: InferContext) -> tuple[TensorType, ...]:
    condition = ctx.types[0]
    if condition.dtype is not DType.BOOL:
        raise wrong_type(ctx, condition.dtype, "a condition of type bool")
    if condition.shape.rank not in (None, 0):
        raise ctx.fail(_no_scalar(condition.shape.dims))
    return ()


def _assert(xp: Any, condition: Any, *data: Any, summarize: int) -> tuple[()]:
    if condition.ndim:
        raise GradstepError(_no_scalar(condition.shape))
    if not condition.item():
        shown = " ".join(f"[{summary(x, summarize)}]" for x in data)
        raise GradstepError(f"assertion failed: {shown}", hint="the numbers are the op's data")
    return ()


def _no_scalar(dims: Sequence[int | None] | None) -> str:
    return f"In[0] should be a scalar: {brackets(dims)}"


op(
    "Assert",
    inputs="#condition #data*",
    outputs="",
    attrs={"summarize": 3},
    type_attrs={"T": "types(data)"},
    infer=_asserted,
    kernel=_assert,
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((np.array(True), rng.normal(size=3), np.array(2, np.int32)))],
    arithmetic="exact",
    doc="An error that shows its data unless the condition holds.",
)


def _print(
    xp: Any, value: Any, *rest: Any, message: str, first_n: int, summarize: int
) -> tuple[Any, Any]:
    """`rest` is the data, and how often it has printed."""
    *data, done = rest
    if first_n < 0 or done < first_n:
        shown = "".join(f"[{summary(x, summarize)}]" for x in data)
        say(f"{message}{shown}\n")
    return value, done + 1


op(
    "Print",
    inputs="input #data*",
    attrs={"message": "", "first_n": -1, "summarize": 3},
    type_attrs={"T": "input", "U": "types(data)"},
    formula="input",
    infer=unref,
    kernel=_print,
    gradient=lambda op, g, *_: [g, *[None] * (len(op.inputs) - 1)],
    state=Counter(),
    samples=lambda rng: [
        Sample((rng.normal(size=3), rng.normal(size=(2, 3)), np.array(2, np.int32))),
        Sample((rng.normal(size=(2, 2)),), {"first_n": 0}),
    ],
    arithmetic="exact",
    doc="The same value; when it runs, the message and the first numbers of its data are printed.",
)
