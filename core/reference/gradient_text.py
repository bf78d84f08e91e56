"""What an op's gradient is, in words and signs: found by differentiating the op itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradstep.core.autodiff.notation.step_notation import Notation
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import LOOP
from gradstep.core.graph.model import Graph, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.reference.gradient_specimen import Specimen, specimen

_LONGEST = 110  # characters of a formula that is still read
_BRANCHES = {
    "switch": "`data`: a Merge of what comes back through the branch that is taken, and zeros",
    "merge": "a Switch: to the input that was taken",
}
_SILENT = frozenset(("Identity", "Const", "OnesLike"))  # they say nothing about the rule


def gradient_lines(definition: OpDef) -> list[str]:
    """A line for each input, in Markdown; one line where that says it all."""
    if not definition.inputs:
        return ["none: it has no inputs"]
    if LOOP in definition.attrs:
        return ["another loop, which runs the iterations backward; second order: a TypeError"]
    if definition.gradient.rule is None:
        return ["no rule: asking for it is a LookupError"]
    if not definition.gradient.differentiable:
        return ["none, on purpose: every input gets None"]
    if definition.branch in _BRANCHES:
        return [_BRANCHES[definition.branch]]
    if definition.samples is None:  # what cannot be tried, its rule describes
        return [" ".join((definition.gradient.rule.__doc__ or "by a rule of its own").split())]
    made = specimen(definition)
    if made is None:
        return ["on its samples, which are whole numbers, none"]
    derived = differentiate(made.builder.build(), _request(made))
    return [_line(made, derived, name) for name in made.inputs]


def second_order(definition: OpDef) -> str:
    """Whether the gradient has a gradient of its own; "" where there is no first one."""
    gradient = definition.gradient
    made = specimen(definition) if gradient.rule and gradient.differentiable else None
    if made is None:
        return ""
    first = differentiate(made.builder.build(), _request(made))
    slopes = tuple(first.gradients[x] for x in made.wrt if x in first.gradients)
    try:
        again = _differentiated_again(first.graph, slopes, made.wrt)
    except GradstepError as error:
        missing = re.search(r"op type: (\w+)", error.message)
        return f"no: {f'{missing[1]} has no gradient' if missing else error.message}"
    return "yes" if again else "none, because the gradient depends on no input"


def _differentiated_again(
    graph: Graph, slopes: tuple[TensorRef, ...], wrt: tuple[TensorRef, ...]
) -> bool:
    builder = GraphBuilder(graph)
    kinds = [builder.type_of(ref) for ref in slopes]
    arriving = [builder.placeholder("again", k.dtype, k.shape).ref for k in kinds]
    request = GradientRequest(slopes, wrt, grad_ys=tuple(arriving))
    found = differentiate(builder.build(), request).gradients
    return any(ref in found for ref in wrt)


def _request(made: Specimen) -> GradientRequest:
    return GradientRequest(tuple(made.arriving), made.wrt, grad_ys=tuple(made.arriving.values()))


def _line(made: Specimen, derived: Differentiation, name: str) -> str:
    x = made.inputs[name].ref
    if x not in derived.gradients:
        return f"`{name}`: None"
    gradient = derived.gradients[x]
    types = list(_types(derived.graph, gradient))
    formula = _formula(made, derived, x)
    if types and (len(types) > 8 or len(formula) > _LONGEST):
        return f"`{name}`: by {', '.join(types)}"
    return f"`{formula}`" + (f" ({', '.join(types)})" if types else "")


def _formula(made: Specimen, derived: Differentiation, x: TensorRef) -> str:
    gradients = {ref: derived.gradients[ref] for ref in (*made.arriving, x)}
    notation = Notation(derived.graph, tuple(made.arriving)[:1], gradients, {}, made.names, depth=9)
    return notation.gradient_of(x, gradients[x])


def _types(graph: Graph, ref: TensorRef) -> Iterator[str]:
    """Types of the backward operations that make `ref`, the last one first, each once."""
    seen: set[str] = set()
    types: dict[str, None] = {}
    stack = [ref.op]
    while stack:
        name = stack.pop(0)
        op = graph[name]
        if name in seen or op.phase is not Phase.BACKWARD:
            continue
        seen.add(name)
        if op.type not in _SILENT:
            types.setdefault(op.type)
        stack += [source.op for source in op.inputs if source is not None]
    yield from types
