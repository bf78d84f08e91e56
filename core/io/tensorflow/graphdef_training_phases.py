"""Forward, backward and update in an imported training graph, by what leads where.

Names tell gradients and optimizers (see graphdef_phases); what stands between and beside them goes
by who needs it: what is made of gradients on their way to a variable, and what an optimizer keeps,
belongs to the update.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.recognition.imported_request import (
    discover,
    find_updated_variables,
    find_written_variables,
)
from gradstep.core.graph.model import Graph, Operation, Phase, predecessors
from gradstep.core.io.tensorflow.graphdef_initializers import assigns_initially
from gradstep.core.io.tensorflow.graphdef_trainable import PASSIVE, with_resting_variables
from gradstep.core.ops.build.variable import TRAINABLE, VARIABLES, variable_read_by
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import declare, infer_declared


def with_training(
    graph: Graph, scopes: Sequence[str]
) -> tuple[Graph, tuple[ImportedGradients, ...]]:
    """`graph`, with its phases as the gradients in `scopes` are made and used, and a mark on the
    variables that are not trained; and those gradients, first the ones that updates are made
    with."""
    updated = find_updated_variables(graph, scopes)
    graph = with_resting_variables(graph, {name for names in updated.values() for name in names})
    if not scopes:
        return graph, ()
    found = discover(graph, scopes)
    types, origins = infer_declared(graph), found.origins
    graph = Graph.of(
        replace(op, origin=origins[op.name]) if op.name in origins else op for op in graph
    )
    phases = _Phases(graph, scopes, found.imported)
    graph = _in_order(phases.placed(), phases.kept, scopes)
    declare(graph, types)  # which phases and the order do not change
    return graph, found.imported


def scope_of(name: str, scopes: Sequence[str]) -> str:
    """Of `scopes`, the one that the operation `name` is in; "" for none."""
    return next((scope for scope in scopes if name.startswith(f"{scope}/")), "")


class _Phases:
    """kept: operations in the scopes of gradients that the way forward needs: it leaves there what
    the way back will ask for."""

    def __init__(
        self, graph: Graph, scopes: Sequence[str], imported: Sequence[ImportedGradients]
    ) -> None:
        self._graph, self._scopes = graph, scopes
        before = {one.scope: graph.ancestors(r.op for r in one.of) for one in imported}
        self._forward = set().union(*before.values())
        self.kept = {name for name in self._forward if name in before.get(self._scope(name), ())}
        self._made_of_gradients = {*self._behind()}
        self._readers = _readers(graph)
        self._slots = _slots(graph)
        self._found: dict[str, Operation] = {}

    def placed(self) -> Graph:
        """The graph with its phases."""
        late = {*self._from_first_gradient()}
        for name in reversed(self._graph.order):
            op = self._graph[name]
            phase, origin = self._place(op, name in late)
            same = (phase, origin) == (op.phase, op.origin)
            self._found[name] = op if same else replace(op, phase=phase, origin=origin)
        return Graph.of(self._found[op.name] for op in self._graph)

    def _place(self, op: Operation, late: bool) -> tuple[Phase, str]:
        """late: whether it was made after gradients."""
        if op.name in self.kept:
            return Phase.FORWARD, ""
        same = op.phase, op.origin
        if self._scope(op.name) or op.phase is Phase.UPDATE or op.name in self._forward:
            return same
        readers = [self._found[name] for name in self._readers.get(op.name, ())]
        updates = [reader for reader in readers if reader.phase is Phase.UPDATE]
        owners = {reader.origin for reader in updates}
        owner = owners.pop() if len(owners) == 1 else ""
        if op.name in self._made_of_gradients:
            variables = find_written_variables(op, self._graph)
            if variables or updates:
                return Phase.UPDATE, variables[0] if variables else owner
            return Phase.BACKWARD, ""
        if not late:
            return same
        variable = self._variable(op)
        if (
            variable is not None
            and variable.attrs.get(TRAINABLE) is False
            and len(readers) == len(updates)
        ):
            return Phase.UPDATE, self._slots.get(variable.name, variable.name)
        return (Phase.UPDATE, owner) if updates and len(updates) == len(readers) else same

    def _variable(self, op: Operation) -> Operation | None:
        """The variable that `op` is, or reads."""
        found = self._graph[variable_read_by(self._graph, op.name) or op.name]
        return found if found.type in VARIABLES else None

    def _scope(self, name: str) -> str:
        return scope_of(name, self._scopes)

    def _behind(self) -> Iterator[str]:
        """Operations outside of the scopes that are computed from gradients."""
        found: set[str] = set()
        for name in self._graph.order:
            before = (ref.op for ref in self._graph[name].inputs if ref is not None)
            made = (b in found or (self._scope(b) and b not in self.kept) for b in before)
            if not self._scope(name) and any(made):
                found.add(name)
                yield name

    def _from_first_gradient(self) -> Iterator[str]:
        started = False
        for op in self._graph:
            started = started or (op.phase is Phase.BACKWARD and op.name not in self.kept)
            if started:
                yield op.name


def _slots(graph: Graph) -> dict[str, str]:
    """Variable that an update gives a value beside another one -> that one."""
    updates = (find_written_variables(op, graph) for op in graph if op.phase is Phase.UPDATE)
    return {slot: names[0] for names in updates for slot in names[1:]}


def _readers(graph: Graph) -> Mapping[str, list[str]]:
    """Operation -> what waits for it in a run; not what saves or initialises variables."""
    found: dict[str, list[str]] = {}
    for op in graph:
        if op.type not in PASSIVE and not assigns_initially(op, graph):
            for name in predecessors(op):
                found.setdefault(name, []).append(op.name)
    return found


# -- the order of a run --------------------------------------------------------------------------


def _in_order(graph: Graph, kept: Collection[str], scopes: Sequence[str]) -> Graph:
    """`graph` as forward, backward, update, as far as that changes no value: `kept` before what
    needs it; what was drawn later and is computed from earlier values alone before the first
    gradient, or, when it is made of gradients, behind the last; and there what only updates use
    of variables."""
    gradients = [op.name for op in graph if op.phase is Phase.BACKWARD and op.name not in kept]
    if not gradients:
        return graph
    drawn = [*graph.operations]
    before = drawn[: drawn.index(gradients[0])]
    graph = _brought(graph, before, [*_early(graph, before, Phase.FORWARD)], kept)
    last = next((name for name in reversed(gradients) if scope_of(name, scopes)), gradients[-1])
    drawn = [*graph.operations]
    before = drawn[: drawn.index(last) + 1]
    late = [name for name in _early(graph, before, Phase.BACKWARD) if not scope_of(name, scopes)]
    return _brought(graph, before, [*late, *_resting(graph, before)], kept)


def _brought(
    graph: Graph, before: Sequence[str], names: Sequence[str], kept: Collection[str]
) -> Graph:
    """`graph` with `names` behind `before`, except where something needs one of them, or of `kept`,
    earlier."""
    moved = {*names}
    start = [name for name in before if name not in moved]
    rest = [name for name in graph.operations if name not in {*before, *moved}]
    order: dict[str, Operation] = {}
    for name in (*start, *names, *rest):
        _append(graph[name], order, graph, moved.union(kept))
    return graph if [*order] == [*graph.operations] else Graph(order)


def _append(
    op: Operation, order: dict[str, Operation], graph: Graph, early: Collection[str]
) -> None:
    """Put `op` at the end of `order`, after those of `early` that it needs."""
    for name in predecessors(op):
        if name in early and name not in order:
            _append(graph[name], order, graph, early)
    order.setdefault(op.name, op)


def _early(graph: Graph, before: Collection[str], phase: Phase) -> Iterator[str]:
    """Operations of a phase not in `before` that only make use of what is computed there."""
    there = {*before}
    for name in graph.order:
        op = graph[name]
        if name in there or op.phase is not phase or not there.issuperset(predecessors(op)):
            continue
        if _is_pure(op, graph):
            there.add(name)
            yield name


def _resting(graph: Graph, before: Collection[str]) -> Iterator[str]:
    """Variables of updates in `before`, such as a counter, with their first values, and reads of
    them that see the same value behind it."""
    given: set[str] = set()
    first: dict[str, str] = {}  # what gives a variable its first value -> the variable
    for name in before:
        variables = find_written_variables(graph[name], graph)
        if variables and assigns_initially(graph[name], graph):
            first[name] = variables[0]
        else:
            given.update(variables)
    for name in before:
        variable = first.get(name) or variable_read_by(graph, name) or name
        op = graph[variable]
        if op.type in VARIABLES and op.phase is Phase.UPDATE and variable not in given:
            yield name


def _is_pure(op: Operation, graph: Graph) -> bool:
    """Whether it does not matter when `op` runs."""
    definition = find(op.type)
    reads = any(ref is not None and graph[ref.op].type in VARIABLES for ref in op.inputs)
    return definition is not None and not (definition.state.stateful or reads)
