"""Races: one operation writes a variable that another uses, with no path between the two.

TensorFlow makes them in either order, or at once.

A read takes place where something is computed from the variable: a ref variable's output, an
Identity of it and what an assignment returns stand for the variable itself, whenever they ran.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from itertools import chain, count

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import ALWAYS, NEVER, Condition, all_of, any_of
from gradstep.core.engine.plan.steps import TAKE_EMPTY, Step
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.model import Graph
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import has_loops
from gradstep.core.persistent.overlaid_mapping import has_any

# What these give follows from the variable's type, whatever it holds.
_OF_THE_TYPE = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"})
_ASK_IF_THERE = frozenset({"IsVariableInitialized", "VarIsInitializedOp"})
# What only passes on how a variable is: made with the variable, and mostly nobody looks.
_LOOKS = _ASK_IF_THERE | {"ReadVariableOp", "Merge"}
# Of two of these either may come first, if a lock keeps them apart; TensorFlow takes it where
# `use_locking` is true, and for the second kind always.
_ADDS = frozenset({"AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub", "ApplyGradientDescent"})
_ADDS_LOCKED = frozenset({"AssignAddVariableOp", "AssignSubVariableOp"})
_AT_ONCE = 1024  # uses whose followers are found in one pass


@dataclass(frozen=True, slots=True)
class Race:
    """variable: its storage. first, second: operations, in the order in which this run makes them.
    writes: whether each writes to the variable, or else reads it. fetched: the second is no reader
    itself, but stands for the variable, and is fetched once all has run. adds: both add to it."""

    variable: str
    first: str
    second: str
    writes: tuple[bool, bool]
    fetched: bool = False
    adds: bool = False


@dataclass(frozen=True, slots=True)
class _Use:
    """Step number `step` reads or writes a variable, or stands for one and is fetched."""

    step: int
    writes: bool
    fetched: bool = False


@collector_paused()
def races(plan: Plan, graph: Graph) -> list[Race]:
    """Those in `plan`, and in the iterations of its loops. graph: the user's own. What is derived
    from it comes after it in every run, gradients before updates, as the document has them: there
    no order is left open."""
    if not plan.loops and not _has_writers(plan, graph):
        return []  # nearly always so in training, and said in C
    steps, drawn = plan.steps, graph.operations
    return [*_races(plan, plan.variables, lambda number: steps[number].op.name in drawn)]


def may_race(graph: Graph, drawn: Container[str], asked: Iterable[str]) -> bool:
    """Whether a plan of `graph` that executes what is `asked` for may have any, as far as can be
    told without one."""
    if has_loops(graph):
        return True
    writers = [*filter(drawn.__contains__, _writers(graph))]
    return bool(writers) and not graph.descendants(*writers).isdisjoint(asked)


def _has_writers(plan: Plan, graph: Graph) -> bool:
    """Whether a step of `graph` may write to a variable."""
    return has_any(plan.needed.counts, _writers(graph))


def _writers(graph: Graph) -> Iterator[str]:
    """The operations that may write to variables."""
    types = ((type, find(type)) for type in graph.by_type)
    writing = [type for type, known in types if known is None or known.state.writes]
    return chain.from_iterable(map(graph.by_type.__getitem__, writing))


def _races(plan: Plan, names: Iterable[str], is_drawn: Callable[[int], bool]) -> Iterator[Race]:
    uses = _uses(plan, names, is_drawn)
    waits = _waits(plan) if uses else []
    for batch in _batches(uses):
        steps = sorted({use.step for _, of in batch for use in of})
        bits = {step: 1 << i for i, step in enumerate(steps)}
        before = _before(waits, bits)
        for name, of in batch:
            yield from _unordered(plan, name, of, bits, before)
    for number in filter(is_drawn, plan.loops):
        inside = plan.steps[number].iteration
        assert inside is not None
        yield from _races(inside.plan, inside.shared, lambda step: True)


# -- who reads and who writes --------------------------------------------------------------------


def _uses(
    plan: Plan, names: Iterable[str], is_drawn: Callable[[int], bool]
) -> dict[str, list[_Use]]:
    """Of each variable that is written and used besides, in order."""
    writers: dict[str, set[int]] = {}
    for name in names:
        # Queues, stacks and the like are there to be used by several at a time.
        versions = plan.versions[name][1:] if plan.variables[name].first is None else ()
        if found := set(filter(is_drawn, (plan.made_by[version] for version in versions))):
            writers[name] = found
    uses = {name: [_Use(step, True) for step in found] for name, found in writers.items()}
    for number, name in _reads(plan, writers) if writers else ():
        if is_drawn(number):
            uses[name].append(_Use(number, False))
    for number, name in _fetched(plan) if writers else ():
        if name in uses and is_drawn(number):
            uses[name].append(_Use(number, False, fetched=True))
    return {
        name: sorted(found, key=lambda use: (use.step, use.fetched))
        for name, found in uses.items()
        if len(found) > 1
    }


def _reads(plan: Plan, writers: Mapping[str, Collection[int]]) -> Iterator[tuple[int, str]]:
    """Steps that read variables which others write, and these."""
    names = {version: name for name in writers for version in plan.versions[name]}
    for number, step in enumerate(plan.steps):
        if step.computes and step.op.type not in _OF_THE_TYPE and _is_seen(plan, step):
            found = {names[read] for read in step.reads if read in names}
            yield from ((number, name) for name in found if number not in writers[name])


def _is_seen(plan: Plan, step: Step) -> bool:
    """Whether what the step reads goes anywhere, or is something of its own."""
    if step.op.type not in _LOOKS or any(ref.op == step.op.name for ref in plan.fetches):
        return True
    return any(edge.op in plan.step_of for edge in plan.graph.consumers[step.op.name])


def _fetched(plan: Plan) -> Iterator[tuple[int, str]]:
    """Steps that stand for variables, and are fetched, and these."""
    for ref in dict.fromkeys(plan.fetches):
        name, step = plan.tensors.get(ref), plan.step_of.get(ref.op)
        if isinstance(name, str) and step is not None:
            yield step, name


# -- what comes before what ----------------------------------------------------------------------


def _waits(plan: Plan) -> list[list[int]]:
    """For each step, the steps that have to be done before it, and have no other between."""
    number, asked_by = dict(zip(plan.step_of, count(), strict=False)), plan.needed.asked_by
    return [
        [number[name] for name in asked_by(step.op.name) if name in number] for step in plan.steps
    ]


def _batches(uses: Mapping[str, list[_Use]]) -> Iterator[list[tuple[str, list[_Use]]]]:
    """The variables, with so many uses together that sets of them stay small."""
    batch: list[tuple[str, list[_Use]]] = []
    size = 0
    for name, found in uses.items():
        if batch and size + len(found) > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append((name, found))
        size += len(found)
    if batch:
        yield batch


def _before(waits: Sequence[Sequence[int]], bits: Mapping[int, int]) -> dict[int, int]:
    """For each step in `bits`, the bits of those that have to be done before it."""
    masks: list[int] = []
    found: dict[int, int] = {}
    for step in range(max(bits) + 1):
        mask = 0
        for other in waits[step]:
            mask |= masks[other]
        own = bits.get(step)
        if own is not None:
            found[step] = mask
            mask |= own
        masks.append(mask)
    return found


def _unordered(
    plan: Plan,
    name: str,
    uses: Sequence[_Use],
    bits: Mapping[int, int],
    before: Mapping[int, int],
) -> Iterator[Race]:
    """The races on one variable, in order."""
    writers = {bits[use.step]: use for use in uses if use.writes}
    others = {bits[use.step]: use for use in uses if not use.fetched}
    all_writers, earlier, earlier_writers = sum(writers), 0, 0
    for use in uses:
        own = bits[use.step]
        if use.fetched:  # that reads it when all is done
            against = all_writers & ~own
        else:
            against = earlier if use.writes else earlier_writers
        for bit in _ones(against & ~before[use.step]):
            other = others[bit]
            if not _is_harmless(plan, name, other, use):
                yield _race(plan, name, other, use)
        if not use.fetched:
            earlier |= own
            earlier_writers |= own if use.writes else 0


def _ones(mask: int) -> Iterator[int]:
    """Its single bits, ascending."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


def _is_harmless(plan: Plan, name: str, a: _Use, b: _Use) -> bool:
    """Whether only one of the two runs, or which of them is first makes no difference."""
    one, other = plan.steps[a.step], plan.steps[b.step]
    if a.writes and b.writes and all(_is_apart(step) for step in (one, other)):
        return True
    types = {one.op.type, other.op.type}
    if types & _ASK_IF_THERE and not (types - _ASK_IF_THERE) & TAKE_EMPTY:
        return True  # what updates a variable needs a value there, too
    try:
        return all_of([_when(plan, one, name), _when(plan, other, name)]) == NEVER
    except GradstepError:  # that is too intricate
        return False


def _when(plan: Plan, step: Step, name: str) -> Condition:
    """When the step has to do with variable `name`: of a Merge, where it takes that."""
    if step.guard is None:
        return ALWAYS
    taken = zip(step.reads, step.guard.inputs, strict=False)  # a Merge alone says when
    inputs = [when for read, when in taken if plan.values[read].variable == name]
    return any_of(inputs) if inputs else step.guard.when


def _adds(step: Step) -> bool:
    """Whether it adds to the variable."""
    type = step.op.type
    return type in _ADDS_LOCKED or type.removeprefix("Resource") in _ADDS


def _is_apart(step: Step) -> bool:
    """Whether it adds to the variable, and nobody comes between its read and its write."""
    return step.op.type in _ADDS_LOCKED or (_adds(step) and bool(step.op.attrs.get("use_locking")))


def _race(plan: Plan, name: str, first: _Use, second: _Use) -> Race:
    steps = [plan.steps[use.step] for use in (first, second)]
    names, writes = [step.op.name for step in steps], (first.writes, second.writes)
    adds = all(writes) and all(map(_adds, steps))
    return Race(name, names[0], names[1], writes, second.fetched, adds)
