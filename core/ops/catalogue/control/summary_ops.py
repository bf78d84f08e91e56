"""Summaries of numbers for TensorBoard: scalars and histograms under tags, and several as one.

Each gives text: the bytes of a Summary message (TensorFlow's summary.proto).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.formats.histogram_proto import histogram_bytes
from gradstep.core.ops.formats.protobuf import bytes_field, length_fields
from gradstep.core.ops.formats.summary_proto import TAG, VALUE, histogram, number

_SUMMARY = TensorType(DType.STRING, SCALAR)


def _scalars(ctx: InferContext) -> TensorType:
    """Tags that are fed are told, if they do not fit, when they are there: the error shows one."""
    _, values = _tagged(ctx)
    tags = ctx.constant(0)
    if tags is not None and values.shape.is_static:
        _want_one_for_each(tags, values.shape.static())
    return _SUMMARY


def _histogram_of(ctx: InferContext) -> TensorType:
    if _tagged(ctx)[0].shape.rank not in (None, 0):
        raise _no_scalar()
    return _SUMMARY


def _tagged(ctx: InferContext) -> tuple[TensorType, ...]:
    """The types of tags and values, which must be text and real numbers."""
    tags, values = ctx.types
    if tags.dtype is not DType.STRING:
        raise ctx.fail(
            f"{ctx.op.type} takes tags of type string, not {tags.dtype.value}",
            hint="the tag is a constant of type string",
        )
    if not (values.dtype.is_integer or values.dtype.is_floating):
        raise wrong_type(ctx, values.dtype, "real numbers")
    return ctx.types


def _merged(ctx: InferContext) -> TensorType:
    if not ctx.types:
        raise ctx.fail(
            "List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum "
            "length 1.",
            hint="connect at least one summary",
        )
    for kind in ctx.types:
        if kind.dtype is not DType.STRING:
            raise ctx.fail(
                f"MergeSummary takes summaries, which are of type string, not {kind.dtype.value}",
                hint="put a ScalarSummary or a HistogramSummary before it",
            )
    return _SUMMARY


def _want_one_for_each(tags: Any, shape: tuple[int, ...]) -> None:
    """Raise GradstepError unless values of `shape` are one for each tag."""
    if tags.shape == shape:
        return
    tag = f" (tag '{_shown(_bytes(tags.item()))}')" if tags.size == 1 else ""
    raise GradstepError(
        f"tags and values are not the same shape: {brackets(tags.shape)} != {brackets(shape)}{tag}",
        hint="give one tag for each value; a tensor of many numbers has a HistogramSummary",
    )


def _no_scalar() -> GradstepError:
    return GradstepError("tags must be scalar", hint="a histogram has one tag")


def _scalar_summary(xp: Any, tags: Any, values: Any) -> np.ndarray:
    _want_one_for_each(tags, values.shape)
    numbers = np.asarray(values).astype(np.float32).ravel().tolist()
    pairs = zip(tags.ravel().tolist(), numbers, strict=True)
    return _text(b"".join(number(_bytes(tag), x) for tag, x in pairs))


def _histogram_summary(xp: Any, tag: Any, values: Any, *, op: Operation) -> np.ndarray:
    if tag.ndim:
        raise _no_scalar()
    numbers = np.asarray(values).astype(np.float64).ravel()
    _want_finite(numbers, op.name)
    return _text(histogram(_bytes(tag.item()), histogram_bytes(numbers)))


def _want_finite(numbers: np.ndarray, name: str) -> None:
    """Raise GradstepError for the first number that is none, in TensorFlow's two wordings."""
    wrong = numbers[~np.isfinite(numbers)]
    if wrong.size:
        what = "Nan in summary histogram" if np.isnan(wrong[0]) else "Infinity in Histogram"
        raise GradstepError(
            f"{what} for: {name}", hint="step back to the operation where it comes from"
        )


def _merge_summary(xp: Any, *inputs: Any) -> np.ndarray:
    """The values of all inputs; TensorFlow lets those without a tag be there twice."""
    values = [v for x in inputs for text in x.ravel().tolist() for v in _values(_bytes(text))]
    seen: set[bytes] = set()
    for value in values:
        tag = _tag_of(value)
        if tag and tag in seen:
            raise GradstepError(
                f"Duplicate tag {_shown(tag)} found in summary inputs",
                hint="give each summary a tag of its own",
            )
        seen.add(tag)
    return _text(b"".join(bytes_field(VALUE, value) for value in values))


def _values(summary: bytes) -> Iterator[bytes]:
    try:
        yield from length_fields(summary, VALUE)
    except ValueError:
        raise _unreadable() from None


def _tag_of(value: bytes) -> bytes:
    """The tag; as in any message, the last one counts."""
    try:
        tags = list(length_fields(value, TAG))
        for tag in tags:
            tag.decode()
    except ValueError:
        raise _unreadable() from None
    return tags[-1] if tags else b""


def _unreadable() -> GradstepError:
    return GradstepError(
        "Could not parse one of the summary inputs",
        hint="a summary is what ScalarSummary or HistogramSummary gives; tags are UTF-8",
    )


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _shown(text: bytes) -> str:
    return text.decode(errors="replace")


def _text(content: bytes) -> np.ndarray:
    """A scalar of text, which no device but the host can hold."""
    found = np.empty((), object)
    found[()] = content
    return found


def _tags(*names: str) -> np.ndarray:
    return np.array([name.encode() for name in names], object)


op(
    "ScalarSummary",
    inputs="#tags #values",
    outputs="summary",
    type_attrs={"T": "values"},
    formula="summary(tags, simple_value=values)",
    infer=_scalars,
    kernel=_scalar_summary,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((_text(b"loss"), rng.normal(size=()))),
        Sample((_tags("a/mean", "a/größe"), rng.normal(size=2))),
        Sample((_text(b""), np.array(0, np.int32))),
    ],
    arithmetic="exact",  # it runs on the host, whatever the device
    doc="A Summary of numbers, each under its tag.",
)
op(
    "HistogramSummary",
    inputs="#tag #values",
    outputs="summary",
    type_attrs={"T": "values"},
    formula="summary(tag, histo=buckets(values))",
    infer=_histogram_of,
    kernel=_histogram_summary,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((_text(b"weights"), rng.normal(size=(5, 4)))),
        Sample((_text(b"none"), np.zeros((0, 2), np.float32))),
        Sample((_text(b"counts"), np.array([0, 3, 0, -7], np.int64))),
    ],
    arithmetic="exact",
    doc="A Summary of how the numbers of a tensor are spread, under one tag.",
)
op(
    "MergeSummary",
    inputs="#inputs*",
    outputs="summary",
    type_attrs={"N": "len(inputs)"},
    formula="add_all(inputs)",
    infer=_merged,
    kernel=_merge_summary,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample(
            (
                _scalar_summary(np, _text(b"loss"), rng.normal(size=())),
                _scalar_summary(np, _tags("a", "b"), rng.normal(size=2)),
            )
        ),
        Sample((_scalar_summary(np, _text(b"alone"), np.float32(1)),)),
    ],
    arithmetic="exact",
    doc="One Summary of all values that are in several; no two may have one tag.",
    differs="a message fed from elsewhere is checked as far as its tags, and not put in order anew",
)
