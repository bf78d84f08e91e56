"""What the initial operation of a program runs, found once and kept over edits that leave it be."""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from weakref import WeakKeyDictionary
from weakref import ref as weak

from gradstep.core.engine.plan.steps import TAKE_EMPTY, storage_name
from gradstep.core.graph.carry_over import edit_before
from gradstep.core.graph.model import PYTHON_OPS, Graph, Operation
from gradstep.core.ops.declare.table import find
from gradstep.core.persistent.arranged_mapping import look_up_all


@dataclass(frozen=True, eq=False, slots=True)
class InitRun:
    """needs: the operations that it runs; gives: the declarations of variables that it gives a
    value; storages: where all of them, and whatever else it runs, would keep theirs; is_pure:
    whether the graph alone says what it does."""

    init: str
    needs: frozenset[str]
    gives: frozenset[str]
    storages: frozenset[str]
    is_pure: bool


_known: WeakKeyDictionary[Graph, InitRun] = WeakKeyDictionary()
_last: list[weak[Graph]] = []  # of which it was found last


def init_run(graph: Graph, init: str) -> InitRun:
    """That of operation `init` of `graph`; the very same as in the graph before an edit where all
    that it runs are the very same operations. Raises GradstepError for a name that is not there."""
    found = _known.get(graph)
    if found is None or found.init != init:
        found = _as_before(graph, init) or _as_last(graph, init) or _find(graph, init)
        _known[graph], _last[:] = found, [weak(graph)]
    return found


def _as_before(graph: Graph, init: str) -> InitRun | None:
    before, changes = edit_before(graph) or (None, None)
    known = None if before is None else _known.get(before)
    if known is None or changes is None or known.init != init:
        return None
    same = known.needs.isdisjoint(changes.changed) and known.needs.isdisjoint(changes.removed)
    return known if same else None


def _as_last(graph: Graph, init: str) -> InitRun | None:
    """The same of a graph that has become much larger, or smaller, with the same operations."""
    before = _last[0]() if _last else None
    known = None if before is None else _known.get(before)
    if before is None or known is None or known.init != init:
        return None
    needs = [*known.needs]
    there = (look_up_all(each.operations, needs) for each in (before, graph))
    return known if all(map(is_, *there)) else None


def _find(graph: Graph, init: str) -> InitRun:
    needs = frozenset(graph.ancestors([init]))
    operations = [graph[name] for name in needs]
    targets = (op.inputs[0] for op in operations if assigns(op))
    return InitRun(
        init,
        needs,
        frozenset(target.op for target in targets if target is not None),
        frozenset(map(storage_name, operations)),
        PYTHON_OPS.isdisjoint(op.type for op in operations),
    )


def assigns(op: Operation) -> bool:
    """Whether `op` may give a variable its first value."""
    definition = find(op.type)
    return op.type in TAKE_EMPTY and definition is not None and bool(definition.state.writes)
