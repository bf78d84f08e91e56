"""One op of the reference page, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant
from gradstep.core.ops.declare.resource_handles import describe_handle
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.reference.gradient_text import gradient_lines, second_order


def entry(definition: OpDef) -> str:
    """The op's section, from its heading on."""
    lines = [f"#### {definition.type}", "", _about(definition), ""]
    lines += [f"- {line}" for line in _facts(definition)]
    return "\n".join(lines)


def _about(definition: OpDef) -> str:
    functions = ", ".join(f"`tf.{name}`" for name in definition.python)
    return f"{definition.doc} {functions}".rstrip()


def _facts(definition: OpDef) -> Iterator[str]:
    yield f"Inputs: {_inputs(definition)}"
    yield f"Outputs: {_outputs(definition)}"
    if definition.attrs:
        yield f"Attributes: {_attributes(definition)}"
    if definition.formula:
        yield f"Formula: `{definition.formula}`"
    yield _gradient(definition)
    again = second_order(definition)
    if again:
        yield f"Second order: {again}"
    if definition.kinks:
        yield f"Where the slope jumps: {_sentence(definition.kinks)}"
    if definition.differs:
        yield f"Not as in TensorFlow: {_sentence(definition.differs)}"
    for defect in definition.gradient.defects:
        again = ", differentiated again," if defect.order == 2 else ""
        yield (
            f"A defect of TensorFlow's own, and the same here: by `{defect.input}` the gradient"
            f"{again} is {defect.gives:g}: {defect.why} ({defect.source})."
        )


def _inputs(definition: OpDef) -> str:
    return ", ".join(_input(definition, i) for i in range(len(definition.inputs))) or "none"


def _input(definition: OpDef, index: int) -> str:
    spec = definition.inputs[index]
    notes = [
        word
        for word, holds in (
            (" or ".join(kind.value for kind in spec.takes), bool(spec.takes)),
            (f"of the element type of `{spec.like}`", bool(spec.like)),
            ("any number", spec.variadic),
            ("a variable", spec.ref or spec.handle == "variable"),
            (_handle(spec.handle), spec.handle not in ("", "variable")),
            ("on the host", spec.host),
            ("updated", index in definition.state.writes),
        )
        if holds
    ]
    return f"`{spec.name}`" + (f" ({', '.join(notes)})" if notes else "")


def _handle(of: str) -> str:
    return f"the handle of {describe_handle(of)}" if of else ""


def _outputs(definition: OpDef) -> str:
    shown = [
        f"`{name[:-1]}` (any number)" if name.endswith("*") else f"`{name}`"
        for name in definition.outputs
    ]
    return ", ".join(shown) or "none"


def _attributes(definition: OpDef) -> str:
    return ", ".join(
        f"`{name}` {_value(default)}{_choices(definition, name)}"
        for name, default in definition.attrs.items()
    )


def _value(default: Any) -> str:
    """The default, or what kind of value must be given."""
    if isinstance(default, type):
        return f"({_KINDS.get(default, default.__name__)}, required)"
    return f"= `{literal(default)}`"


_KINDS: dict[type, str] = {DType: "element type", Shape: "shape", Constant: "tensor", tuple: "list"}


def literal(value: Any) -> str:
    """A value as Python or TensorFlow writes it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, DType | Shape):
        return str(value)
    if isinstance(value, bytes):
        return repr(value.decode())
    return repr(value)


def _choices(definition: OpDef, name: str) -> str:
    allowed = definition.choices.get(name, ())
    return f" (one of {', '.join(f'`{literal(c)}`' for c in allowed)})" if allowed else ""


def _gradient(definition: OpDef) -> str:
    lines = gradient_lines(definition)
    note = ", each summed over the axes that were broadcast" if definition.broadcasts else ""
    if len(lines) == 1:
        return f"Gradient: {lines[0]}"
    return "\n".join([f"Gradient{note}:", *(f"  - {line}" for line in lines)])


def _sentence(text: str) -> str:
    return text.removesuffix(".") + "."
