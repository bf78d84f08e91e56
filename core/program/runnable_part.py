"""The part of a program that can run while its document is still being drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, compress, count, filterfalse
from operator import attrgetter, itemgetter, not_
from typing import TypeVar

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef, predecessors
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.typing.missing_inputs import Waiting, find_waiting
from gradstep.core.program.race_problems import races_of

_OP = itemgetter(0)  # of a TensorRef
_INPUTS, _CONTROL_INPUTS = attrgetter("inputs"), attrgetter("control_inputs")
_At = TypeVar("_At", Edge, TensorRef)


def drop_unfinished(program: Program) -> Program:
    """`program`, which runs what it is asked for only as far as that waits for no wire and no feed;
    of the rest what can be computed, up to where it is open. Races are said of it all: that one
    end waits orders nothing."""
    waits = find_waiting(program.graph, program.feeds)
    if not waits:
        return program
    held = [r.op for r in _among(program.fetches, waits) if r not in program.feeds]
    held += [name for name in program.targets if name in waits]
    threads = tuple(t for t in program.threads if not _held(t, waits))
    beside = (name for t in program.threads for name in _held(t, waits))
    all_held = (*held, *beside)
    if not all_held:  # it runs as it is
        return replace(program, problems=(*program.problems, *_unfed(waits)))
    fetches = tuple(r for r in program.fetches if r in program.feeds or r.op not in waits)
    targets = [name for name in program.targets if name not in waits]
    return replace(
        program,
        fetches=fetches,
        targets=tuple(dict.fromkeys((*targets, *_frontier(program, held, waits)))),
        threads=threads,
        held=all_held,
        problems=(*program.problems, *_unfed(waits), *races_of(program)),
    )


def find_unfed(program: Program, asked: Iterable[TensorRef] = ()) -> GradstepError | None:
    """What a program that was cut short waits for, where that is a feed; with `asked`, what the
    first of these waits for, whatever the program runs."""
    waits = find_waiting(program.graph, program.feeds)
    names = [ref.op for ref in asked if ref.op in waits and ref not in program.feeds]
    if not asked:
        names = [name for name in program.held if name in waits]
    missing = next((waits[name] for name in names if not waits[name].input), None)
    if missing is None:
        return None
    problem = _unfed_problem(missing.node)
    return GradstepError(problem.text, node=problem.node, hint=problem.fix)


def held_up(
    gradients: Mapping[_At, TensorRef], waits: Mapping[str, Waiting]
) -> Iterator[tuple[_At, str]]:
    """Those of `gradients` that wait for a wire or a feed, and in words for what: they are not
    None."""
    if not waits or waits.keys().isdisjoint(map(_OP, gradients.values())):
        return  # nearly always so, and said in C
    for at, held in gradients.items():
        if held.op in waits:
            yield at, f"waits for {waits[held.op]}"


def _among(refs: Sequence[TensorRef], waits: Mapping[str, Waiting]) -> Iterable[TensorRef]:
    """Those of operations that wait."""
    if waits.keys().isdisjoint(map(_OP, refs)):
        return ()
    return (ref for ref in refs if ref.op in waits)


def _frontier(program: Program, held: Iterable[str], waits: Mapping[str, Waiting]) -> Iterable[str]:
    """What operations that wait need, and can be had: the last before them. In C but for what
    nobody needs."""
    graph, operations = program.graph, program.graph.operations
    needed: Set[str]
    if any(ref.op in waits for ref in program.feeds):
        needed = waits.keys() & graph.ancestors(held)
    else:
        unneeded = _unneeded(graph, {*held}, waits)
        needed = waits.keys() - unneeded if unneeded else waits.keys()
    ops = [*map(operations.__getitem__, filter(needed.__contains__, operations))]
    return filterfalse(waits.__contains__, _predecessors(ops))


def _predecessors(ops: Sequence[Operation]) -> list[str]:
    """Those of each operation, one after the other. In C but for who waits for others."""
    found, done = list[str](), 0
    for place in (*compress(count(), map(_CONTROL_INPUTS, ops)), len(ops)):
        inputs = chain.from_iterable(map(_INPUTS, ops[done:place]))
        found += map(_OP, filter(None, inputs))
        found += chain.from_iterable(map(predecessors, ops[place : place + 1]))
        done = place + 1
    return found


def _unneeded(graph: Graph, held: Set[str], waits: Mapping[str, Waiting]) -> Set[str]:
    """Of what waits that which nothing held needs. All that takes from what waits does so, too: so
    this is what leads to ends alone that nobody asks for."""
    consumers, waiting = graph.consumers, graph.control_outputs
    ends = compress(waits, map(not_, map(consumers.__getitem__, waits)))
    stack = [name for name in ends if name not in held and name not in waiting]
    found, left = set[str](), dict[str, int]()
    while stack:
        name = stack.pop()
        found.add(name)
        for source in {*predecessors(graph[name])} - held:
            if source in waits:
                if source not in left:
                    takers = {edge.op for edge in consumers[source]}
                    left[source] = len(takers.union(waiting.get(source, ())))
                left[source] -= 1
                stack += () if left[source] else (source,)
    return found


def _held(thread: Thread, waits: Collection[str]) -> list[str]:
    """What it runs, and waits."""
    return [*filter(waits.__contains__, (*thread.targets, *(r.op for r in thread.fetches)))]


def _unfed(waits: Mapping[str, Waiting]) -> Iterator[Problem]:
    for name, what in waits.items():
        if not what.input and what.node == name:
            yield _unfed_problem(name)


def _unfed_problem(name: str) -> Problem:
    text = f"'{name}' is not fed: what needs it waits"
    return Problem(name, "unfed", text, "feed it a value", severity="info")
