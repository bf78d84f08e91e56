"""Whole sessions on the device: random programs, fast plans of examples, and several devices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.placed_backend import with_placement
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.edits import set_devices
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.placed_devices import device_spec
from gradstep.core.ops.declare.placeable_ops import can_be_placed
from gradstep.gpu.compare import compare
from tests.card.device import Device, others_beside
from tests.support.layouts import EXACT, Bits, Case, Seen, array_of, passes, run_once
from tests.support.random_networks import networks
from tests.support.random_programs import programs

RUNS = 3
EACH = 10  # programs of a task
TIMES = 4  # that each is run, to see whether its bits are steady
_BY_PLACE = ("SegmentSum", "SegmentMean", "Scatter", "Sparse", "Gather")
Found = dict[str, Any]


def try_one(device: Device, task: str) -> Found:
    """task: "random|cupy|SEED", "fast|cupy|SEED" or "placed|cupy|SEED". programs: how many were
    tried; wrong: what was refused or differs, each in a few words; unsteady: how many programs gave
    other bits when they were run again on the device."""
    kind, _, number = task.split("|")
    found: Found = {"programs": 0, "wrong": [], "unsteady": 0}
    trial = {"random": _node_by_node, "fast": _fast, "placed": _placed}[kind]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case, data in _drawn(int(number), st.one_of(networks(), programs())):
            found["programs"] += 1
            try:
                trial(device, case, data, found)
            except Exception as error:
                found["wrong"].append([f"{type(error).__name__}: {error}"[:300], repr(case)[:600]])
            try:
                device.sync()
            except Exception as error:
                return {**found, "lost": str(error)}
    device.free()
    return {**found, "verdict": "differs" if found["wrong"] else "ok"}


def _drawn(number: int, strategy: Any) -> Iterator[tuple[Case, np.random.Generator]]:
    """The same programs for the same number."""
    cases: list[Case] = []

    @seed(number)
    @settings(
        max_examples=EACH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(case: Case) -> None:
        cases.append(case)

    draw()
    for index, case in enumerate(cases):
        yield case, np.random.default_rng((number, index))


def _node_by_node(device: Device, case: Case, data: np.random.Generator, found: Found) -> None:
    """As Device diff compares: every node on its own results, and on NumPy's."""
    try:
        nodes = compare(case.program, NumpyBackend(), device.backend()).nodes
    except GradstepError:
        return  # it cannot start, on any device
    for node in nodes:
        if node.right.status == "raised" and node.left.status != "raised":
            found["wrong"].append([node.name, node.type, node.right.text[:300]])
        if node.creates and node.left.status == node.right.status == "ok" and not node.rule:
            found["wrong"].append([node.name, node.type, str(node.metrics)[:300]])


def _fast(device: Device, case: Case, data: np.random.Generator, found: Found) -> None:
    """A network or program, some runs: in a fast plan to the bits of a recorded one there."""
    with passes(EXACT):
        _hold_alike(case, case.graph, device.backend(), found)


def _placed(device: Device, case: Case, data: np.random.Generator, found: Found) -> None:
    """The same with some operations on NumPy, others on the device, and on the machine's others."""
    names = {device.name_in_graphs: device.backend(), **others_beside(device)}
    able = [op.name for op in within(case.graph) if can_be_placed(op)]
    where = {op: device_spec(name) for op in able if (name := data.choice(["", *names]))}
    graph = set_devices(case.graph, where)
    with passes(EXACT):
        _hold_alike(case, graph, with_placement(NumpyBackend(), graph, names.__getitem__), found)


def _hold_alike(case: Case, graph: Graph, backend: Backend, found: Found) -> None:
    """Of recorded runs, errors and shapes to NumPy's (numbers are held node by node: where terms
    cancel, nothing is to be said of them at the end); of fast ones, bits to recorded ones, where
    the device gives the same bits twice."""
    here = _runs(case, case.graph, NumpyBackend(), fast=False)
    kept, *others = (_runs(case, graph, backend, fast=False) for _ in range(TIMES))
    fast, *faster = (_runs(case, graph, backend, fast=True) for _ in range(TIMES))
    _hold(kept, here, found, "recorded", lambda a, b: a[:2] == b[:2])
    steady = all(runs == kept for runs in others) and all(runs == fast for runs in faster)
    if not steady or (fast != kept and _adds_by_place(graph)):
        found["unsteady"] += 1
    else:
        _hold(fast, kept, found, "fast", lambda a, b: a == b)


def _adds_by_place(graph: Graph) -> bool:
    """Whether rows are added to places: on a card in the order in which they come, which may be the
    same several times, and another one in another plan."""
    return any(part in op.type for op in within(graph) for part in _BY_PLACE)


def _runs(case: Case, graph: Graph, backend: Backend, fast: bool) -> list[Seen]:
    on = Session(graph, backend, case.functions, case.initial, fast=fast)
    return [run_once(on, case) for _ in range(RUNS)]


def _hold(
    runs: list[Seen],
    wanted: list[Seen],
    found: Found,
    what: str,
    alike: Callable[[Bits, Bits], bool],
) -> None:
    """Errors of the same kind at the same node, and values that are `alike`. After a run that
    fails nothing is held: what was done before it is another matter."""
    for number, (run, want) in enumerate(zip(runs, wanted, strict=True)):
        if run.error or want.error:
            if run.error.split(":")[0] != want.error.split(":")[0]:
                found["wrong"].append([what, number, run.error[:200], want.error[:200]])
            return
        values, others = run.fetched | run.variables, want.fetched | want.variables
        for name in values.keys() | others.keys():
            if name not in values or name not in others or not alike(values[name], others[name]):
                said = (_said(each.get(name)) for each in (values, others))
                found["wrong"].append([what, number, str(name), *said])


def _said(bits: Any) -> str:
    return "is not there" if bits is None else str(array_of(bits))[:150]
