"""The part of a program that can run while its document is still being drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from operator import itemgetter
from typing import TypeVar

from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.graph.model import Edge, Graph, TensorRef, predecessors
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.typing.missing_inputs import Waiting, find_waiting
from gradstep.core.program.race_problems import races_of

_OP = itemgetter(0)  # of a TensorRef
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
    threads = tuple(t for t in program.threads if not _waits(t, waits))
    if not held and len(threads) == len(program.threads):  # it runs as it is
        return replace(program, problems=(*program.problems, *_unfed(waits)))
    fetches = tuple(r for r in program.fetches if r in program.feeds or r.op not in waits)
    targets = [name for name in program.targets if name not in waits]
    return replace(
        program,
        fetches=fetches,
        targets=tuple(dict.fromkeys((*targets, *_frontier(program, held, waits)))),
        threads=threads,
        is_cut=True,
        problems=(*program.problems, *_unfed(waits), *races_of(program)),
    )


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


def _frontier(program: Program, held: Iterable[str], waits: Collection[str]) -> Iterator[str]:
    """What operations that wait need, and can be had: the last before them."""
    graph, operations = program.graph, program.graph.operations
    if not any(ref.op in waits for ref in program.feeds):
        known = _wires_into(graph, held, waits)  # who needs what waits does so, too
        for name in filter(known.__contains__, operations):
            yield from known[name]
        return
    needed = graph.ancestors(held)
    for name in filter(needed.intersection(waits).__contains__, operations):
        yield from filterfalse(waits.__contains__, predecessors(operations[name]))


def _wires_into(
    graph: Graph, held: Iterable[str], waits: Collection[str]
) -> Mapping[str, Sequence[str]]:
    """Of what is held and of what waits before that, if it needs anything that does not wait: that,
    in order."""
    found: dict[str, list[str]] = {}
    stack, operations = [*held], graph.operations
    seen = {*stack}
    while stack:
        name = stack.pop()
        for source in predecessors(operations[name]):
            if source not in waits:
                found.setdefault(name, []).append(source)
            elif source not in seen:
                seen.add(source)
                stack.append(source)
    return found


def _waits(thread: Thread, waits: Collection[str]) -> bool:
    return any(name in waits for name in (*thread.targets, *(r.op for r in thread.fetches)))


def _unfed(waits: Mapping[str, Waiting]) -> Iterator[Problem]:
    for name, what in waits.items():
        if not what.input and what.node == name:
            text, fix = f"'{name}' is not fed: what needs it waits", "feed it a value"
            yield Problem(name, "unfed", text, fix, severity="info")
