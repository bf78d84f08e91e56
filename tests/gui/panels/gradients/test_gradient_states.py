"""Which gradients are None, NaN, infinite or zero, followed from stop to stop."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.model.explanations import state_of

ORDER = ("none", "nan", "inf", "zero")
NAMES = ("nan_gradient", "where_nan_trap")


def found_anew(space: Any) -> list[tuple[Any, str]]:
    """By asking for each of them."""
    if space.gradients_wait:
        return []
    wrt = whole_request(space.document).wrt
    found = [(ref, state_of(space.gradient(str(ref)))) for ref in wrt]
    return sorted((row for row in found if row[1]), key=lambda row: ORDER.index(row[1]))


@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_the_stop_however_it_was_reached(bench: Any, name: str) -> None:
    bench.open(name)
    space, random = bench.space, Random(name)
    for signal in (space.program_changed, space.stopped, space.values_changed):
        signal.connect(lambda *_: space.gradient_states.bad)  # as views do
    steps = ["step"] * 8 + ["step_back"] * 3 + ["continue_"]
    moves = [lambda c=c: bench.run(c) for c in steps]
    moves += [lambda: bench.run(f"run_to@{space.stop.run}:{random.randrange(12)}")]
    wires = [Edge(op.name, i) for op in space.document.graph for i in range(len(op.inputs))]
    moves += [lambda: commands.toggle_stop(space, random.choice(wires)), space.undo_stack.undo]
    seen = set()
    for _ in range(80):
        random.choice(moves)()
        space.debugger.flush()
        assert space.gradient_states.bad == found_anew(space)
        seen |= {state for _, state in space.gradient_states.bad}
    assert seen - {"none"}


def test_a_gradient_is_read_once_in_a_run(bench: Any) -> None:
    bench.open("tutorial")
    bench.run("continue_", *["step_back"] * 3)
    space = bench.space
    assert space.gradient_states.bad == found_anew(space)
    asked: list[list[str]] = []
    values = space.debugger.values
    space.debugger.values = lambda refs: (asked.append([*refs]), values(refs))[1]
    bench.run("step")
    bench.run("step")
    assert sum(map(len, asked)) <= 2, "those that these steps made"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_an_edit_asks_again_of_those_that_were_made(bench: Any, name: str) -> None:
    bench.open(name)
    space = bench.space
    for signal in (space.program_changed, space.stopped, space.values_changed):
        signal.connect(lambda *_: space.gradient_states.bad)  # as views do
    bench.run("continue_")
    wires = [Edge(op.name, i) for op in space.document.graph for i in range(len(op.inputs))]
    edits = [lambda wire=wire: commands.toggle_stop(space, wire) for wire in wires]
    fed = {name: -value.array for name, value in space.document.feeds.items()}
    edits += [lambda n=n, a=a: commands.set_feed(space, n, a) for n, a in fed.items()]
    for edit in edits:
        for change in (edit, space.undo_stack.undo):
            change()
            space.debugger.flush()
            assert space.gradient_states.bad == found_anew(space)
