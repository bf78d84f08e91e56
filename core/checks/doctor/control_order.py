"""Control dependencies that order nothing, as what is waited for comes first, or does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.graph.model import Operation, predecessors
from gradstep.core.ops.declare.table import find

_VISITS = 100_000  # operations that all searches together look at
_GROUPS = frozenset({"NoOp", "Group"})


def find_idle_waits(x: Examined) -> Iterator[Finding]:
    """Of operations that are known; imported training graphs have those of TensorFlow's making."""
    if x.document.imported or x.document.init:
        return
    places = {name: place for place, name in enumerate(x.graph.order)}
    budget = [_VISITS]
    for op in x.forward:
        is_asked = op.type not in _GROUPS and find(op.type) is not None
        for name in op.control_inputs if is_asked else ():
            why = _why_idle(x, op, name, places, budget)
            if why:
                fix = "take it away, or let the operation wait for what has to come first"
                text = f"that {op.name} waits for {name} orders nothing: {why}"
                yield Finding(op.name, text, fix, "info", Remedy("unwait", (name, op.name)))


def _why_idle(
    x: Examined, op: Operation, name: str, places: dict[str, int], budget: list[int]
) -> str:
    """ "" where it may order something, and where that has not been found out."""
    if name in _sources(op):
        return f"{op.name} reads {name}, and so comes after it anyway"
    if _leads_back(x, op, name, places, budget):
        return f"{op.name} is computed from {name}, and so comes after it anyway"
    behind = _behind(x, name, budget)
    if behind is not None and not any(_acts(x.graph[other]) for other in behind):
        return f"{name} only computes a value, which changes nothing for anybody else"
    return ""


def _leads_back(
    x: Examined, op: Operation, name: str, places: dict[str, int], budget: list[int]
) -> bool:
    """Whether wires lead from `name` to `op`; nothing before it is looked at. Other waits do not
    count: what is made under tf.control_dependencies waits in several places at once."""
    seen, stack, first = set[str](), _sources(op), places.get(name, 0)
    while stack and budget[0] > 0:
        other = stack.pop()
        if other == name:
            return True
        if other not in seen and places.get(other, -1) > first:
            seen.add(other)
            budget[0] -= 1
            stack.extend(_sources(x.graph[other]))
    return False


def _sources(op: Operation) -> list[str]:
    return [ref.op for ref in op.inputs if ref is not None]


def _behind(x: Examined, name: str, budget: list[int]) -> set[str] | None:
    """`name` and all that it needs; None where that is too much to look at."""
    seen, stack = set[str](), [name]
    while stack:
        other = stack.pop()
        if other not in seen:
            if budget[0] <= 0:
                return None
            budget[0] -= 1
            seen.add(other)
            stack.extend(predecessors(x.graph[other]))
    return seen


def _acts(op: Operation) -> bool:
    """Whether when it runs may matter: it changes or reads what others change, says or refuses
    something, or is left out with a branch."""
    definition = find(op.type)
    if definition is None or definition.branch or not definition.is_pure:
        return True
    return op.type.startswith(("Assert", "Check", "Print", "Placeholder"))
