"""Compiling a plan: from a graph and its fetches to the ordered steps of one run.

Only what the fetches and targets need is kept. Variables are in single-assignment form: an
update makes a new version, and a reader gets the version that is current at its place in the
order. A ref variable's aliases (its own output, an Identity of it, the result of an Assign) have
no value of their own; they stand for the variable.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from operator import itemgetter

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.plan.execution_plan import Plan, assemble
from gradstep.core.engine.plan.fed_types import RunTypes
from gradstep.core.engine.plan.incremental import IncrementalResolver
from gradstep.core.engine.plan.loop_body import compile_body
from gradstep.core.engine.plan.plan_part import PartResolver
from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.resumed_plan import remember_before, resume_plan
from gradstep.core.engine.plan.step_builder import Resolver
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Graph, TensorRef, unknown_name
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.persistent.edited_columns import Column, difference

_OP = itemgetter(0)  # of a TensorRef
_NAME = itemgetter(1)  # of a place and a name
_LOG = logging.getLogger("gradstep.engine")


@collector_paused()
def compile_plan(
    graph: Graph,
    fetches: Sequence[TensorRef],
    targets: Sequence[str] = (),
    fed: Iterable[TensorRef] | Mapping[TensorRef, TensorType] = (),
    previous: Plan | None = None,
    whole: Plan | None = None,
) -> Plan:
    """The plan that computes `fetches` and executes `targets`, given the tensors in `fed`.

    fed: with types, shapes follow from what is really fed; without, from the declarations.
    previous: a plan that this function made for a graph before an edit; its steps are taken over
    where nothing about them has changed.
    whole: one that goes on beside this one, which may be a part of it, and then is made of it.
    An operation that cannot run (unfed placeholder, shapes that do not fit, unknown type) fails
    when its step is reached, as in TensorFlow. Raises GradstepError for a name that is not there
    and for a cycle.
    """
    start = time.perf_counter()
    types = _fed_types(graph, fed)
    plan = None if previous is None else resume_plan(previous, graph, fetches, targets, types)
    plan = plan or _compiled(graph, fetches, targets, types, previous, whole)
    if _LOG.isEnabledFor(logging.DEBUG):
        _log_plan(plan, previous, time.perf_counter() - start)
    return plan


def _compiled(
    graph: Graph,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    types: Mapping[TensorRef, TensorType],
    previous: Plan | None,
    whole: Plan | None,
) -> Plan:
    if previous is not None and _asks_the_same(previous, fetches, targets, types, graph):
        needed = previous.needed.after(graph, previous.needed.wanted, previous.step_of)
        if not needed.missing:
            plan = _continued(graph, needed, fetches, targets, previous)
            if plan.is_dense:
                return plan
    wanted = _wanted(fetches, targets, types, previous)
    apart = len(wanted) == len(targets) + len(fetches)  # nothing is fed that is fetched
    if previous is not None and previous.types.fed == types:
        needed = previous.needed.after(graph, wanted, previous.step_of)
        if not apart or needed.missing:
            _require_there(graph, (*targets, *map(_OP, fetches)))
        plan = _continued(graph, needed, fetches, targets, previous)
        if plan.is_dense:
            return plan
    _require_there(graph, wanted if apart else (*targets, *map(_OP, fetches)))
    needed = Needed(graph, types, wanted)
    if whole is not None and not needed.missing:
        part = PartResolver(RunTypes(infer_declared(graph), types), compile_body)
        if part.take(whole, needed):
            return assemble(graph, needed, part, fetches, targets)
    resolver = Resolver(RunTypes(infer_declared(graph), types), compile_body)
    for op in needed.operations:
        check_cancelled()
        resolver.add(op)
    return assemble(graph, needed, resolver, fetches, targets)


def _require_there(graph: Graph, names: Iterable[str]) -> None:
    """Raise GradstepError for a name that the graph does not have."""
    for name in filterfalse(graph.operations.__contains__, names):
        raise unknown_name(name, graph.operations)


def _asks_the_same(
    previous: Plan,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    types: Mapping[TensorRef, TensorType],
    graph: Graph,
) -> bool:
    """Whether a plan is of the same fetches, the very same, targets and feeds; of which the graph
    has what is fed."""
    same = previous.fetches is fetches and previous.targets == targets
    there = graph.operations.keys() >= {ref.op for ref in types}
    return same and there and previous.types.fed == types


def _continued(
    graph: Graph,
    needed: Needed,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    previous: Plan,
) -> Plan:
    """The plan of what is needed, with what it can have of the one before an edit."""
    taken = IncrementalResolver(previous, compile_body)
    taken.take(needed)
    plan = assemble(graph, needed, taken, fetches, targets, taken.retired, taken.touched)
    remember_before(plan, previous)
    return plan


def _wanted(
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    types: Mapping[TensorRef, TensorType],
    previous: Plan | None,
) -> Column[str]:
    """The targets, and the operations of the fetches that are not fed."""
    known = None if previous is None else difference(previous.fetches, fetches)
    if previous is not None and known is not None and previous.targets == targets:
        before, ahead = previous.needed.wanted, len(targets)
        come = [(at + ahead, fetches[place].op) for at, place in known.come]
        apart = len(before) == ahead + len(previous.fetches) and previous.types.fed == types
        if (
            apart
            and isinstance(before, Column)
            and {r.op for r in types}.isdisjoint(map(_NAME, come))
        ):
            return before.edited([place + ahead for place in known.gone], come)
    fetched = [*map(_OP, fetches)]
    apart = {ref.op for ref in types}.isdisjoint(fetched)
    return Column((*targets, *(fetched if apart else _computed(fetches, types))))


def _computed(fetches: Sequence[TensorRef], fed: Collection[TensorRef]) -> Iterator[str]:
    """Operations of the fetches that are not fed."""
    cut = {ref.op for ref in fed}
    return (ref.op for ref in fetches if ref.op not in cut or ref not in fed)


def _log_plan(plan: Plan, previous: Plan | None, seconds: float) -> None:
    before = frozenset() if previous is None else frozenset(previous.steps)
    _LOG.debug(
        "compiled a plan of %d steps and %d values for %d fetches, %d targets and %d feeds: "
        "%d steps taken over, %d retired, %d cannot run; in %.1f ms",
        len(plan.steps),
        len(plan.values),
        len(plan.fetches),
        len(plan.targets),
        len(plan.fed),
        sum(step in before for step in plan.steps),
        len(plan.retired),
        len(plan.failures),
        1000 * seconds,
    )


def _fed_types(
    graph: Graph, fed: Iterable[TensorRef] | Mapping[TensorRef, TensorType]
) -> Mapping[TensorRef, TensorType]:
    if isinstance(fed, Mapping):
        return fed
    known = infer_declared(graph).types
    for ref in (fed := tuple(fed)):
        if ref not in known:
            raise GradstepError(f"there is no tensor '{ref}' to feed", kind="KeyError", node=ref.op)
    return {ref: known[ref] for ref in fed}
