"""Nodes put into a scope of their own, and a scope taken away."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.document.scope_edits import dissolve, group
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import is_inside, parents
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder, call

EXAMPLES = Path(__file__).parents[3] / "assets/examples"
NAMES = ["tutorial", "cond_gradients", "while_loop", "softmax_digits"]


@cache
def example(name: str) -> Document:
    return gradstep_file.load(EXAMPLES / f"{name}.gradstep")


def names_of(graph: Graph) -> set[str]:
    return {op.name for op in within(graph)}


def nested() -> Document:
    """a/x -> a/inner/y -> z, and a node that is called as what is in the scope."""
    b = GraphBuilder()
    with b.as_default():
        x = b.constant(np.array([1.0, 2.0], np.float32), name="a/x")
        call("Square", call("Square", x, name="a/inner/y"), name="z")
        b.constant(np.float32(1.0), name="x")
    return Document(b.build())


def assert_same(one: Document, other: Document) -> None:
    assert [*one.graph] == [*other.graph]
    for part in fields(Document):
        if part.name != "graph":
            assert getattr(one, part.name) == getattr(other, part.name), part.name


def folded(document: Document, scope: str) -> Document:
    view = document.view
    return document.with_(view=replace(view, collapsed=view.collapsed | {scope}))


@pytest.mark.parametrize("names", [["c", "k"], ["c", "d", "e"], ["loss"]])
def test_a_new_scope_is_what_renaming_each_node_gives(names: list[str]) -> None:
    tutorial = example("tutorial")
    tutorial = document_edits.toggle_breakpoint(tutorial, "c")
    tutorial = document_edits.set_override(tutorial, Override("Identity", "e", OverrideKind.OP))
    made, scope, moved = group(tutorial, names)
    assert (scope, moved) == ("group", {name: f"group/{name}" for name in names})
    for name in names:
        tutorial = document_edits.rename_operation(tutorial, name, f"group/{name}")
    assert_same(made, tutorial)


def test_the_new_scope_is_in_the_innermost_one_around_all_and_called_as_none_is() -> None:
    document = nested()
    assert group(document, ["a/x", "a/inner/y"])[1] == "a/group"
    assert group(document, ["a/inner/y"])[1] == "a/inner/group"
    once, scope, moved = group(document, ["a/", "z"])
    assert (scope, moved["a/inner/y"], moved["z"]) == ("group", "group/a/inner/y", "group/z")
    assert names_of(once.graph) == {"group/a/x", "group/a/inner/y", "group/z", "x"}
    assert group(once, ["x"])[1] == "group_1"


def test_a_scope_that_goes_whole_takes_along_what_is_said_of_it() -> None:
    document = document_edits.set_override(
        nested(), Override("Identity", "a/inner", OverrideKind.SCOPE)
    )
    document = folded(document, "a/inner")
    for units in (["a/", "z"], ["a/inner/", "z"]):
        made, scope, _ = group(document, units)
        inner = f"{scope}/a/inner"
        assert [o.target for o in made.request.overrides] == [inner]
        assert made.view.collapsed == {inner}
    stays, _, _ = group(document, ["a/x", "z"])
    assert [o.target for o in stays.request.overrides] == ["a/inner"]


@pytest.mark.parametrize("target", ["a", "a/"])
def test_a_part_of_what_an_override_is_for_does_not_go_out_of_it(target: str) -> None:
    override = Override("Identity", target, OverrideKind.SCOPE)
    document = document_edits.set_override(nested(), override)
    with pytest.raises(GradstepError, match="an override gives all that is in 'a'"):
        group(document, ["a/x", "z"])
    assert group(document, ["a/x"])[1] == "a/group"
    made, _, _ = group(document, ["a/", "z"])
    assert [o.target_name for o in made.request.overrides] == ["group/a"]


def test_a_loop_goes_with_what_is_in_it() -> None:
    document = example("while_loop")
    (loop,) = [op.name for op in document.graph if op.type == "While"]
    made, scope, moved = group(document, [loop])
    inside = {name for name in names_of(document.graph) if is_inside(name, loop)}
    assert inside <= moved.keys()
    assert names_of(made.graph) >= {f"{scope}/{name}" for name in inside}


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_taking_a_new_scope_away_gives_the_document_back(data: st.DataObject) -> None:
    document = example(data.draw(st.sampled_from(NAMES)))
    names = sorted(document.graph.operations)
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    made, scope, moved = group(document, chosen)
    # Else what comes out again stands beside what stayed, in a scope of another name.
    left = {s for name in names_of(document.graph) - moved.keys() for s in parents(name)}
    around = scope.rpartition("/")[0]
    inner = {s for name in moved for s in parents(name) if not around or is_inside(s, around)}
    assume(left.isdisjoint(inner))
    assert {new for new in names_of(made.graph) if is_inside(new, scope)} == {*moved.values()}
    back, returned = dissolve(made, scope)
    assert returned == {new: old for old, new in moved.items()}
    assert_same(back, document)


def test_what_a_dissolved_scope_held_gets_a_free_name() -> None:
    document = folded(nested(), "a")
    document = folded(document, "a/inner")
    made, moved = dissolve(document, "a")
    assert moved == {"a/x": "x_1", "a/inner/y": "inner/y"}
    assert names_of(made.graph) == {"x_1", "inner/y", "z", "x"}
    assert made.view.collapsed == {"inner"}
    again, moved = dissolve(made, "inner")
    assert (moved, again.view.collapsed) == ({"inner/y": "y"}, frozenset())
    assert not any(True for name in names_of(again.graph) for _ in parents(name))


def test_breakpoints_of_a_dissolved_scope_go_with_it() -> None:
    document = nested().with_(
        breakpoints=(Breakpoint("a", BreakpointKind.SCOPE), Breakpoint("a/x"))
    )
    made, _ = dissolve(document, "a")
    assert [(b.kind, b.target) for b in made.breakpoints] == [(BreakpointKind.OP, "x_1")]


def test_a_scope_that_is_called_as_the_dissolved_one_then_keeps_what_is_said_of_it() -> None:
    b = GraphBuilder()
    with b.as_default():
        b.constant(np.float32(1.0), name="s/s/x")
    scopes = ("s", "s/s")
    document = folded(Document(b.build()), "s/s").with_(
        breakpoints=tuple(Breakpoint(scope, BreakpointKind.SCOPE) for scope in scopes)
    )
    document = document_edits.move(document, {"s/": (1.0, 1.0), "s/s/": (2.0, 2.0)})
    made, moved = dissolve(document, "s")
    assert moved == {"s/s/x": "s/x"}
    assert [b.target for b in made.breakpoints] == ["s"]
    assert made.view.collapsed == {"s"}
    assert made.view.positions == {"s/": (2.0, 2.0)}


def test_a_scope_whose_gradients_an_override_gives_is_not_dissolved() -> None:
    document = document_edits.set_override(nested(), Override("Identity", "a", OverrideKind.SCOPE))
    with pytest.raises(GradstepError, match="an override gives all that is in 'a'"):
        dissolve(document, "a")
    with pytest.raises(GradstepError, match="there is no scope 'q'"):
        dissolve(document, "q")
    with pytest.raises(GradstepError, match="q"):
        group(document, ["q"])
