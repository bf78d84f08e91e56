"""Edits that mend what a `why` or a lint explains, by their names: one small change each.

An epsilon, a bound, a safe Where, Identity's gradient for a rounding, a cast before a division,
another start: what one would do by hand. They are tried before they are made. What they add gets no
place: whoever shows the document finds one beside what it is wired to.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.document import document_edits
from gradstep.core.document.attribute_text import read_attr
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.graph.splat_array import folded_bytes
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.part_digest import digest


def source_of(document: Document, at: str) -> tuple[Edge, TensorRef, np.dtype[Any]]:
    """A wire, what it carries, and the element type. Raises GradstepError."""
    edge = Edge.parse(at)
    inputs = anywhere(document.graph, edge.op).inputs
    source = inputs[edge.index] if edge.index < len(inputs) else None
    if source is None:
        raise GradstepError("this input carries no wire", kind="ValueError", node=edge.op)
    types = flatten_loop_types(document.graph, infer_declared(document.graph)).types
    kind = types.get(source)
    return edge, source, np.dtype(np.float32) if kind is None else kind.dtype.numpy


def _through(document: Document, at: str, type: str, other: str, name: str) -> Document:
    """A wire leads through `type`, whose second input is the number `other`."""
    edge, source, dtype = source_of(document, at)
    if _leads_through(document, source, type, other):
        return document
    graph, number = edits.add(
        document.graph, "Const", f"{edge.op}_{name}", (),
        {"value": Constant(np.array(float(other), dtype)), "dtype": DType.of(dtype)},
        beside=edge.op,
    )  # fmt: skip
    graph, made = edits.add(
        graph, type, f"{edge.op}_{name}ed", (source, TensorRef(number)), {}, beside=edge.op
    )
    graph = edits.connect(graph, TensorRef(made), edge)
    return document.with_(graph=graph)


def _leads_through(document: Document, source: TensorRef, type: str, other: str) -> bool:
    """Whether that is so already, as where a branch's edit was made in the document."""
    op = anywhere(document.graph, source.op)
    return op.type == type and len(op.inputs) > 1 and _holds(document, op.inputs[1], other)


def _holds(document: Document, ref: TensorRef | None, number: str) -> bool:
    """Whether that is a constant of this number alone."""
    held = None if ref is None else anywhere(document.graph, ref.op).attrs.get("value")
    return isinstance(held, Constant) and bool(
        np.all(held.array == np.array(float(number), held.array.dtype))
    )


def _add_epsilon(document: Document, names: Sequence[str]) -> Document:
    at, epsilon = names
    return _through(document, at, "AddV2", epsilon, "shift")


def _keep_above(document: Document, names: Sequence[str]) -> Document:
    at, low = names
    return _through(document, at, "Maximum", low, "bound")


def _keep_below(document: Document, names: Sequence[str]) -> Document:
    at, high = names
    return _through(document, at, "Minimum", high, "bound")


def _expand(document: Document, names: Sequence[str]) -> Document:
    """What a wire carries gets another axis, of one: [n] is [n, 1]. What comes out has as many axes
    as before, so that what reduces them still does."""
    at, axis = names
    edge, source, _ = source_of(document, at)
    if _leads_through(document, source, "ExpandDims", axis):
        return document
    value = Constant(np.array(int(axis), np.int32))
    attrs = {"value": value, "dtype": DType.INT32}
    graph, number = edits.add(document.graph, "Const", f"{edge.op}_axis", (), attrs, beside=edge.op)
    inputs = (source, TensorRef(number))
    graph, made = edits.add(graph, "ExpandDims", f"{edge.op}_column", inputs, {}, beside=edge.op)
    graph = edits.connect(graph, TensorRef(made), edge)
    return document.with_(graph=graph)


def _chooses_rows(
    document: Document, chooser: str, condition: TensorRef, source: TensorRef
) -> bool:
    types = flatten_loop_types(document.graph, infer_declared(document.graph)).types
    kinds = types.get(condition), types.get(source)
    ranks = [None if kind is None else kind.shape.rank for kind in kinds]
    is_select = anywhere(document.graph, chooser).type == "Select"
    return is_select and ranks[0] == 1 and ranks[1] != 1


def _safe_where(document: Document, names: Sequence[str]) -> Document:
    """What an operation reads is `fill` wherever its result is not chosen: a wire, the Select that
    chooses, which of its sides the result is on ("1" or "2"), and the number."""
    at, chooser, side, fill = names
    edge, source, dtype = source_of(document, at)
    condition = anywhere(document.graph, chooser).inputs[0]
    if _is_chosen(document, source, condition, side, fill):
        return document
    if condition is not None and _chooses_rows(document, chooser, condition, source):
        raise GradstepError(
            f"'{chooser}' chooses whole rows by a vector, which a Where of elements does not",
            kind="ValueError",
            node=chooser,
            hint="make the condition as large as what it chooses from",
        )
    graph, number = edits.add(
        document.graph, "Const", f"{edge.op}_fill", (),
        {"value": Constant(np.array(float(fill), dtype)), "dtype": DType.of(dtype)},
        beside=edge.op,
    )  # fmt: skip
    sides = (source, TensorRef(number))
    chosen = (condition, *(sides if side == "1" else sides[::-1]))
    graph, made = edits.add(graph, "SelectV2", f"{edge.op}_safe", chosen, {}, beside=edge.op)
    graph = edits.connect(graph, TensorRef(made), edge)
    return document.with_(graph=graph)


def _is_chosen(
    document: Document, source: TensorRef, condition: TensorRef | None, side: str, fill: str
) -> bool:
    """Whether a wire comes from such a Select already."""
    op = anywhere(document.graph, source.op)
    if op.type != "SelectV2" or op.inputs[0] != condition:
        return False
    return _holds(document, op.inputs[2 if side == "1" else 1], fill)


def _retyped(document: Document, name: str, type: str, inputs: Any = None) -> Document:
    op = anywhere(document.graph, name)
    inputs = op.inputs if inputs is None else inputs
    attrs = {key: value for key, value in op.attrs.items() if key.startswith("_")}
    return document.with_(graph=edits.retype(document.graph, name, type, inputs, attrs))


def _div_no_nan(document: Document, names: Sequence[str]) -> Document:
    (name,) = names
    return _retyped(document, name, "DivNoNan")


def _let_through(document: Document, names: Sequence[str]) -> Document:
    """A StopGradient passes the gradient on."""
    (name,) = names
    return _retyped(document, name, "Identity")


def _log_softmax(document: Document, names: Sequence[str]) -> Document:
    """The logarithm of a softmax is made in one."""
    name, softmax = names
    return _retyped(document, name, "LogSoftmax", anywhere(document.graph, softmax).inputs[:1])


def _leak(document: Document, names: Sequence[str]) -> Document:
    """A Relu lets a tenth of what is negative through."""
    (name,) = names
    document = _retyped(document, name, "LeakyRelu")
    return document_edits.set_attr(document, name, "alpha", 0.1)


def _cast_first(document: Document, names: Sequence[str]) -> Document:
    """A quotient of whole numbers that is cast is made of numbers that are cast."""
    name, cast = names
    wanted = anywhere(document.graph, cast).attrs["DstT"]
    op, graph = anywhere(document.graph, name), document.graph
    if op.type == "RealDiv" and all(_is_cast(document, ref, wanted) for ref in op.inputs):
        return document
    casts = list[TensorRef]()
    for number, ref in enumerate(op.inputs):
        graph, made = edits.add(
            graph, "Cast", f"{name}_cast{number}", (ref,), {"DstT": wanted}, beside=name
        )
        casts.append(TensorRef(made))
    return _retyped(document.with_(graph=graph), name, "RealDiv", (*casts,))


def _is_cast(document: Document, ref: TensorRef | None, wanted: object) -> bool:
    op = None if ref is None else anywhere(document.graph, ref.op)
    return op is not None and op.type == "Cast" and op.attrs.get("DstT") == wanted


def _rewire(document: Document, names: Sequence[str]) -> Document:
    """A wire comes from another tensor."""
    at, source = names
    return document_edits.connect(document, TensorRef.parse(source), Edge.parse(at))


def _feed(document: Document, names: Sequence[str]) -> Document:
    """A placeholder is fed something else, or a constant is something else."""
    tensor, text = names
    ref = TensorRef.parse(tensor)
    op = anywhere(document.graph, ref.op)
    if op.type == "Const":
        value = read_attr(text, op.attrs["value"])
        return document_edits.set_attr(document, op.name, "value", value)
    held = document.feeds.get(str(ref))
    if held is None:
        raise GradstepError(f"'{tensor}' is not fed", kind="ValueError", node=op.name)
    return document_edits.set_feed(document, str(ref), read_attr(text, held))


def _unfeed(document: Document, names: Sequence[str]) -> Document:
    """What is computed is not fed any more, so that what it is computed from has a gradient."""
    (tensor,) = names
    ref = TensorRef.parse(tensor)
    op = anywhere(document.graph, ref.op)
    if str(ref) not in document.feeds or not op.inputs:
        raise GradstepError(
            f"'{tensor}' is not fed over its value", kind="ValueError", node=op.name
        )
    return document.with_(feeds={n: x for n, x in document.feeds.items() if n != str(ref)})


def _draw(document: Document, names: Sequence[str]) -> Document:
    """A variable begins with normally distributed numbers of this spread, the same each time."""
    name, spread = names
    held = document.initial.get(name)
    if held is None:
        raise GradstepError(f"'{name}' has no initial value here", kind="ValueError", node=name)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    drawn = rng.normal(size=held.array.shape) * float(spread)
    return document_edits.set_initial(document, name, drawn.astype(held.array.dtype))


def scaled(document: Document, name: str, factor: str) -> tuple[str, str, str]:
    """What the edit "scale" is about, of the numbers that the variable begins with now."""
    return name, factor, _mark(document.initial[name])


def _mark(held: Constant) -> str:
    """By which numbers are known again."""
    array = held.array
    return digest([array.dtype.str, str(array.shape), folded_bytes(array)])[:16]


def _scale(document: Document, names: Sequence[str]) -> Document:
    """A variable begins with its numbers times a factor: those of the third name, as `scaled` gives
    it, and no others, so that what is scaled already is not scaled again. Without it, whatever
    numbers there are."""
    name, factor, *of = names
    held = document.initial.get(name)
    if held is None:
        raise GradstepError(f"'{name}' has no initial value here", kind="ValueError", node=name)
    if of and of != [_mark(held)]:
        raise GradstepError(
            f"'{name}' does not begin any more with the numbers that were to be {factor} times as "
            "large",
            kind="ValueError",
            node=name,
            hint="ask why again, or lint again: the answer is about what it begins with now",
        )
    scaled = np.asarray(held.array * float(factor), held.array.dtype)
    return document_edits.set_initial(document, name, scaled)


REPAIRS: Mapping[str, Callable[[Document, Sequence[str]], Document]] = {
    "add_epsilon": _add_epsilon,
    "keep_above": _keep_above,
    "keep_below": _keep_below,
    "safe_where": _safe_where,
    "expand": _expand,
    "div_no_nan": _div_no_nan,
    "let_through": _let_through,
    "log_softmax": _log_softmax,
    "leak": _leak,
    "cast_first": _cast_first,
    "rewire": _rewire,
    "feed": _feed,
    "unfeed": _unfeed,
    "draw": _draw,
    "scale": _scale,
}
REPAIR_WORDS: Mapping[str, Callable[..., str]] = {
    "add_epsilon": lambda at, epsilon: f"Add {epsilon} to what {_of(at)} reads",
    "keep_above": lambda at, low: f"Keep what {_of(at)} reads at {low} or above",
    "keep_below": lambda at, high: f"Keep what {_of(at)} reads at {high} or below",
    "safe_where": lambda at, *_: f"Give {_of(at)} a safe number where it is not chosen",
    "expand": lambda at, axis: f"Give what {_of(at)} reads an axis {axis} of one (ExpandDims)",
    "div_no_nan": lambda name: f"Let {name} give 0 where it divides by 0",
    "let_through": lambda name: f"Let the gradient through {name}",
    "log_softmax": lambda name, softmax: f"Make {softmax} and {name} in one (LogSoftmax)",
    "leak": lambda name: f"Let {name} leak (LeakyRelu)",
    "cast_first": lambda name, _: f"Cast before {name} divides",
    "rewire": lambda at, source: f"Give {_of(at)} {source.removesuffix(':0')}",
    "feed": lambda tensor, text: f"Let {tensor.removesuffix(':0')} be {text}",
    "unfeed": lambda tensor: f"Leave the feed of {tensor.removesuffix(':0')} out",
    "draw": lambda name, spread: f"Begin {name} with random numbers of spread {spread}",
    "scale": lambda name, factor, *_: f"Begin {name} with {factor} times its numbers",
}
OF_THE_START = frozenset({"draw", "scale"})  # of what is read before the first run, and never again
FROM_THE_START = OF_THE_START | {"run"}  # what they change, runs carry on


def require_start(kind: str, names: Sequence[str], run: int) -> None:
    """Raise GradstepError for an edit that nothing would come of in runs that begin with `run`."""
    if kind in OF_THE_START and run > 0:
        raise GradstepError(
            f"'{REPAIR_WORDS[kind](*names)}' would change nothing from run {run + 1} on: variables "
            "begin in run 1",
            kind="ValueError",
            node=names[0],
            hint="make it in the document, or restart, and branch in run 1",
        )


def _of(wire: str) -> str:
    return wire.rpartition("<")[0]
