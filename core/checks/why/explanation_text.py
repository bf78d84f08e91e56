"""Explanations in words: the links of a chain of causes, and the suggested fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.autodiff.explain.assignment_paths import find_assigned_variables
from gradstep.core.autodiff.explain.why_answer import Link
from gradstep.core.checks.why.cause_table import CAUSES
from gradstep.core.checks.why.explanation_words import (
    Index,
    broadcast_index,
    element,
    extent,
    list_words,
    number,
    place,
    where,
)
from gradstep.core.checks.why.nonfinite_value import Origin
from gradstep.core.checks.why.questioned_run import Recollection
from gradstep.core.checks.why.recorded_values import Given, Made, Ran
from gradstep.core.checks.why.step_on_other_inputs import on_host
from gradstep.core.checks.why.zero_gradient import Stopper
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.number_kinds import kind_of, limits_of
from gradstep.core.ops.declare.table import find

_MOST = 4  # operands that are shown
_GIVEN = ("fed", "initial", "changed", "constant")


def link(origin: Origin, there: Recollection, first: bool = True) -> Link:
    """What one operation did. first: nothing is said before."""
    made = origin.made
    home = there.stands(made.ran)
    run = None if home is None else made.ran.rank[0]
    if isinstance(made, Given):
        ref = origin.tensor
        text = _held(ref.short, origin, first, where(made.ran.within))
        return Link(
            node=ref.op,
            op=ref.op,
            cause=origin.cause,
            index=origin.index,
            run=run,
            iterations=made.ran.within,
            text=text,
        )
    op, ran = origin.step.op, made.ran
    return Link(
        node=owner(op),
        op=op.name,
        cause=origin.cause,
        index=origin.index,
        operand="" if origin.operand is None else _named(op, origin.operand, {}),
        phase=op.phase.value,
        run=run,
        position="" if home is None else ran.position(made.step),
        iterations=ran.within,
        text=_did(origin, first, there.names, _when(ran, home)),
    )


def _did(origin: Origin, first: bool, names: Mapping[TensorRef, str], when: str) -> str:
    op, there = origin.step.op, place(origin.index)
    if origin.cause == "constant":
        return _held(op.name, origin, first)
    makes = "makes the first" if first else "makes"
    verb = "gives 0" if origin.kind == "zero" else f"{makes} {origin.kind}"
    shown = operands(op, origin.inputs, origin.index, names)
    read = f", from {shown}" if shown else ""
    who = _step_of(op, origin.made.ran.plan.graph) if _is_derived(op) else _called(op)
    return f"{who} {verb}{there}{read}{when}: {_says(origin)}"


def _says(origin: Origin) -> str:
    """The cause as a clause."""
    return _of_origin(CAUSES[origin.cause].says, origin)


def fix(origin: Origin) -> str:
    """What to do about it, as a sentence; "" where there is nothing to do."""
    return _advice(_of_origin(CAUSES[origin.cause].fix, origin))


def _advice(text: str) -> str:
    return f" To mend it, {text}." if text else ""


def describe_carry(origin: Origin) -> str:
    """By which variable it came from one run to the next."""
    for (run, op), (later, _) in pairwise(origin.way):
        if later > run and op.name in origin.made.ran.plan.graph:
            variables = list_words(find_assigned_variables(origin.made.ran.plan.graph, op))
            return f"{_called(op)} then wrote it to {variables}"
    return ""


def stopper_link(
    stopper: Stopper, inputs: Sequence[np.ndarray | None], there: Recollection
) -> Link:
    """Where a gradient came to nothing. inputs: what the forward operation read, if that is known,
    as far as it has a value."""
    op = stopper.op
    ran, step, home = stopper.level.ran, stopper.step, there.stands(stopper.level.ran)
    text = _stopping(stopper, inputs) + where(stopper.level.iteration)
    return Link(
        node=op.name,
        op=op.name,
        cause=stopper.cause,
        index=stopper.index,
        operand="" if stopper.operand is None else stopper.operand.short,
        phase=op.phase.value,
        run=None if home is None else ran.rank[0],
        position="" if home is None or step is None else ran.position(step),
        iterations=stopper.level.iteration,
        text=text,
    )


def _stopping(stopper: Stopper, inputs: Sequence[np.ndarray | None]) -> str:
    op, leaf, index = stopper.op, stopper.leaf, stopper.index
    if stopper.cause == "no_iterations":
        return f"it comes from the iterations of {op.name}, and there were none"
    if stopper.cause == "starts_at_zero":
        return f"it starts at 0, where {op.name} is differentiated"
    if stopper.cause == "last_iteration":
        return f"no gradient comes back to {op.name} from behind the loop"
    if stopper.cause == "changed":
        return f"what comes back to {op.name} {CAUSES['changed'].says}"
    if stopper.cause == "untaken":
        return f"{op.name} is in a branch that was not taken because {stopper.why}"
    if stopper.parts:
        parts = [f"{_element(x, index)} from {name}" for name, x in stopper.parts]
        return f"what comes back to {op.name} cancels{place(index)}: {list_words(parts)}"
    known = [x if x is not None else 0 for x in inputs]
    shown = operands(op, known, index)
    if not shown and leaf is not None:
        shown = element(leaf.ref.short, leaf.array, stopper.leaf_index or index)
    arriving = f"a gradient arrives at {op.name} ({op.type}){place(index)} and none of it goes on"
    having = f", with {shown}" if shown else ""
    return f"{arriving}{having}: {_of_stopper(CAUSES[stopper.cause].says, stopper)}"


def stopper_fix(stopper: Stopper, links: Sequence[Link]) -> str:
    """As `fix`: about what the user has given, where `links` end at it."""
    definition, last = find(stopper.op.type), links[-1]
    is_product = definition is not None and definition.arithmetic == "product"
    weights = stopper.cause == "zero_factor" and is_product
    fix = CAUSES["zero_weights" if weights else stopper.cause].fix
    return _advice(_of_stopper(fix, stopper, last.node if last.cause in _GIVEN else ""))


def _element(x: np.ndarray, index: Index | None) -> str:
    there = None if index is None else broadcast_index(x.shape, index)
    return extent(x) if there is None else number(x[there])


def others(count: int) -> str:
    """That there are so many more of these."""
    if count <= 0:
        return ""
    ways = "way back leads" if count == 1 else "ways back lead"
    return f" {count} other {ways} to nothing, too."


def describe_range(array: np.ndarray) -> str:
    """ "is finite and not zero: it lies in [0, 1]", of a value of which nothing is wrong."""
    if kind_of(array.dtype) not in "biufc":
        return "holds no numbers"
    if not array.size:
        return "is empty"
    it = f"it {f'is {number(array.reshape(()))}' if array.size == 1 else extent(array)}"
    if kind_of(array.dtype) not in "fc":
        return f"is not zero: {it}"
    zeros = _zeros(array)
    return f"is finite: {it}; {zeros}" if zeros else f"is finite and not zero: {it}"


def describe_size(array: np.ndarray) -> str:
    """ "it is finite and not zero (norm 2)", of a gradient of which nothing is wrong; which
    of its elements are 0, if some are."""
    size, zeros = f"(norm {norm(array)})", _zeros(array)
    return f"it is finite {size}; {zeros}" if zeros else f"it is finite and not zero {size}"


def norm(array: np.ndarray) -> str:
    return number(float(np.linalg.norm(np.abs(array).astype(np.float64))))


def _zeros(array: np.ndarray) -> str:
    """ "1 of 2 elements is 0, at [1]"; "" where none is."""
    count = array.size - int(np.count_nonzero(array))
    if not count:
        return ""
    said = f"{count:,} of {array.size:,} elements {'is' if count == 1 else 'are'} 0"
    if count > _MOST:
        return said
    return f"{said}, at {list_words(str(place.tolist()) for place in np.argwhere(array == 0))}"


def operands(
    op: Operation,
    inputs: Sequence[Any],
    index: Index | None,
    names: Mapping[TensorRef, str] = MappingProxyType({}),
) -> str:
    """ "x = 0, y = 1": what an operation read at an element, shapes and axes left out."""
    host = on_host(op)
    shown = [
        element(_owned(op, k, names), x, index)
        for k, x in enumerate(inputs[: len(op.inputs)])
        if not host[k] and isinstance(x, np.ndarray)
    ]
    more = ["…"] if len(shown) > _MOST else []
    return ", ".join([*shown[:_MOST], *more])


def _named(op: Operation, index: int, names: Mapping[TensorRef, str]) -> str:
    """What a step's operand is called; of the way back without its scopes, if it has no name."""
    ref = op.inputs[index] if index < len(op.inputs) else None
    if ref is None:
        return "its state"
    if ref in names or op.phase is not Phase.BACKWARD:
        return names.get(ref, ref.short)
    made_beside = ref.op.rpartition("/")[0] == op.scope
    return ref.short.rpartition("/")[2] if made_beside else ref.short


def _owned(op: Operation, index: int, names: Mapping[TensorRef, str]) -> str:
    """`_named`; that it belongs to the same gradient is said of what has no other name, as no
    operation that the user has is meant."""
    name = _named(op, index, names)
    ref = op.inputs[index] if index < len(op.inputs) else None
    return f"its {name}" if ref is not None and name != names.get(ref, ref.short) else name


def _called(op: Operation) -> str:
    """An operation's name and type; of the way back and of updates, which nobody has named, the
    type."""
    return op.type if _is_derived(op) else f"{op.name} ({op.type})"


def _is_derived(op: Operation) -> bool:
    return op.phase is not Phase.FORWARD and bool(op.origin)


def _step_of(op: Operation, graph: Graph) -> str:
    """ "in the gradient of log its step Mul"; its full name, too, where another could be meant."""
    alike = [graph[name] for name in graph.by_type.get(op.type, ()) if name != op.name]
    beside = any((x.origin, x.phase) == (op.origin, op.phase) for x in alike)
    namesake = any(x.phase is Phase.FORWARD and _leaf(x.name) == op.type for x in alike)
    full = f" ({op.name})" if beside or namesake or op.type in graph else ""
    what = "gradient" if op.phase is Phase.BACKWARD else "update"
    return f"in the {what} of {op.origin} its step {op.type}{full}"


def _leaf(name: str) -> str:
    return name.rpartition("/")[2]


def _of_origin(text: str, origin: Origin) -> str:
    """A cause's words, of what made a value."""
    made, operand = origin.made, ""
    if isinstance(made, Made) and origin.operand is not None:
        operand = _named(origin.step.op, origin.operand, {})
    return _filled(text, operand, made.ran.plan.values[made.index].type.dtype.numpy)


def _of_stopper(text: str, stopper: Stopper, root: str = "") -> str:
    """A cause's words, of what let no gradient through. root: what to name for the operand."""
    operand = root or ("" if stopper.operand is None else stopper.operand.short)
    kind = np.dtype(np.float32) if stopper.leaf is None else stopper.leaf.array.dtype
    return _filled(text, operand, kind, stopper.override)


def _filled(text: str, operand: str, kind: np.dtype, override: str = "") -> str:
    limits = limits_of(kind) if kind_of(kind) in "fc" else np.finfo(np.float32)
    return text.format(
        operand=operand or "what it reads",
        override=override,
        dtype=kind.name,
        largest=number(float(limits.max)),
        smallest=number(float(limits.smallest_subnormal)),
    )


def _held(name: str, origin: Origin, first: bool, when: str = "") -> str:
    """What is said of what nothing in the run has made."""
    if not first:
        return f"{name} {_says(origin)}{when}"
    what = "0" if origin.kind == "zero" else origin.kind
    return f"{name} holds {what}{place(origin.index)}{when}: it {_says(origin)}"


def _when(ran: Ran, home: Recollection | None) -> str:
    elsewhere = home is not None and ran.rank[0] != home.number
    return where(ran.within) + (f", in run {ran.rank[0] + 1}" if elsewhere else "")
