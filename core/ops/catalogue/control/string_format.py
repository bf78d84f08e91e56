"""What `tf.print` is made of: a template filled with tensors, and printing the text."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Stateful
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.formats.element_text import ends
from gradstep.core.ops.state.print_output import say


def _filled(ctx: InferContext) -> TensorType:
    _pieces(ctx.attr("template"), ctx.attr("placeholder"), len(ctx.types))
    return TensorType(DType.STRING, SCALAR)


def _pieces(template: Any, placeholder: Any, count: int) -> list[str]:
    """The template's text around its placeholders, of which there must be `count`."""
    pieces = _text(template).split(_text(placeholder) or "\0")
    if len(pieces) - 1 != count:
        raise GradstepError(
            "num placeholders in template and num inputs must match: "
            f"{len(pieces) - 1} vs. {count}",
            hint=f"write one {_text(placeholder)} for each input",
        )
    return pieces


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _format(xp: Any, *inputs: Any, template: str, placeholder: str, summarize: int) -> np.ndarray:
    first, *others = _pieces(template, placeholder, len(inputs))
    shown = (ends(x, summarize) + after for x, after in zip(inputs, others, strict=True))
    found = np.empty((), object)
    found[()] = "".join([first, *shown]).encode()
    return found


op(
    "StringFormat",
    inputs="#inputs*",
    attrs={"template": "%s", "placeholder": "%s", "summarize": 3},
    type_attrs={"T": "types(inputs)"},
    formula="filled(template, placeholder, inputs, summarize)",
    infer=_filled,
    kernel=_format,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample(
            (np.array(0.5), np.arange(10, dtype=np.int32)),
            {"template": "loss {}, {}", "placeholder": "{}"},
        ),
        Sample((ints([1, 2, 3], [4, 5, 6]),), {"summarize": 1}),
        Sample((), {"template": "no numbers"}),
    ],
    arithmetic="exact",  # it runs on the host, whatever the device
    doc="The template with tensors in place of its placeholders: of each dimension, both ends.",
)


def _printed(ctx: InferContext) -> tuple[TensorType, ...]:
    kind = ctx.types[0]
    if kind.dtype is not DType.STRING:
        raise wrong_type(ctx, kind.dtype, "text: numbers go through a StringFormat")
    if kind.shape.rank not in (None, 0):
        raise ctx.fail(f"input must be a scalar, but has rank: {kind.shape.rank}")
    return ()


def _print(xp: Any, text: Any, *, end: str) -> tuple[()]:
    if text.ndim:
        raise GradstepError(f"Input is expected to be scalar, but got {brackets(text.shape)}")
    say(_text(text.item()) + _text(end))
    return ()


op(
    "PrintV2",
    inputs="#input",
    outputs="",
    attrs={"output_stream": "stderr", "end": "\n"},
    infer=_printed,
    kernel=_print,
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((np.array(b"a line", object),))],
    arithmetic="exact",
    doc="When it runs, the text is printed.",
    differs="the text goes to the Output panel, or to standard error, whatever output_stream says",
)
