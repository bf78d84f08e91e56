"""Forward, backward and update in an imported training graph, by what leads where.

Names tell gradients and optimizers (see graphdef_phases); what stands between and beside them goes
by who needs it: what is made of gradients on their way to a variable, and what an optimizer keeps,
belongs to the update.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from core.autodiff.recognition.imported import (
    ImportedGradients,
    discover,
    updated_by,
    written,
)
from core.graph.model import Graph, Operation, Phase, predecessors
from core.io.graphdef_initializing import assigns_initially
from core.io.graphdef_trained import PASSIVE, with_resting_variables
from core.ops.table import find
from core.ops.variable import TRAINABLE, VARIABLES, variable_read_by


def with_training(
    graph: Graph, scopes: Sequence[str]
) -> tuple[Graph, tuple[ImportedGradients, ...]]:
    """`graph`, with its phases as the gradients in `scopes` are made and used, and a mark on the
    variables that are not trained; and those gradients, first the ones that updates are made
    with."""
    updated = updated_by(graph, scopes)
    graph = with_resting_variables(graph, {name for names in updated.values() for name in names})
    if not scopes:
        return graph, ()
    found = discover(graph, scopes)
    origins = found.origins
    graph = Graph.of(
        replace(op, origin=origins[op.name]) if op.name in origins else op for op in graph
    )
    phases = _Phases(graph, scopes, found.imported)
    return _in_order(phases.placed(), phases.kept), found.imported


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
            variables = written(op, self._graph)
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
        return next((s for s in self._scopes if name.startswith(f"{s}/")), "")

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
    updates = (written(op, graph) for op in graph if op.phase is Phase.UPDATE)
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


def _in_order(graph: Graph, kept: Collection[str]) -> Graph:
    """`graph` with what belongs to the way forward before all gradients, as far as that changes no
    value: `kept` before what needs it, and what was drawn later and is computed from earlier values
    alone before the first gradient."""
    gradients = (op.name for op in graph if op.phase is Phase.BACKWARD and op.name not in kept)
    first = next(gradients, "")
    early = [*_early(graph, first)]
    order: dict[str, Operation] = {}
    for op in graph:
        if op.name == first:
            order |= {each.name: each for each in early}
        _append(op, order, graph, kept)
    return graph if [*order] == [*graph.operations] else Graph(order)


def _append(
    op: Operation, order: dict[str, Operation], graph: Graph, kept: Collection[str]
) -> None:
    """Put `op` at the end of `order`, after those of `kept` that it needs."""
    for name in predecessors(op):
        if name in kept and name not in order:
            _append(graph[name], order, graph, kept)
    order.setdefault(op.name, op)


def _early(graph: Graph, first: str) -> Iterator[Operation]:
    """Forward operations behind `first` that only make use of what is computed before it."""
    drawn = [*graph.operations]
    behind = {*drawn[drawn.index(first) :]} if first else set()
    there: set[str] = set()
    for name in graph.order:
        op = graph[name]
        if name not in behind:
            there.add(name)
        elif (
            op.phase is Phase.FORWARD and there.issuperset(predecessors(op)) and _is_pure(op, graph)
        ):
            there.add(op.name)
            yield op


def _is_pure(op: Operation, graph: Graph) -> bool:
    """Whether it does not matter when `op` runs."""
    definition = find(op.type)
    reads = any(ref is not None and graph[ref.op].type in VARIABLES for ref in op.inputs)
    return definition is not None and not (definition.stateful or definition.writes or reads)
