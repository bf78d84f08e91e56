"""Rows of a profile as trees: nothing is lost or counted twice, and names are as short as they can
be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.protocol.messages import ProfileRow
from gradstep.gui.model.cost_tree import BETWEEN, PATHS, Cost, apart, leaves, total, tree

ORIGINS = ("x", "conv/w", "conv/relu", "conv/inner/b", "loss")
ROWS = st.lists(
    st.builds(
        ProfileRow,
        op=st.sampled_from(ORIGINS),
        type=st.sampled_from(["Mul", "AddV2"]),
        phase=st.sampled_from(["forward", "backward", "update"]),
        origin=st.sampled_from(ORIGINS),
        seconds=st.integers(0, 1000).map(lambda n: n * 2.0**-20),
        bytes_made=st.integers(0, 100),
        bytes_read=st.integers(0, 100),
        also=st.lists(st.sampled_from(ORIGINS), max_size=2),
    ),
    max_size=12,
)


def row(op: str, phase: str, origin: str, seconds: float = 1.0, **more: object) -> ProfileRow:
    return ProfileRow(op=op, type="Mul", phase=phase, origin=origin, seconds=seconds, **more)


def flattened(costs: tuple[Cost, ...]) -> list[Cost]:
    return [*apart(costs)]


@pytest.mark.parametrize("grouping", PATHS)
@given(rows=ROWS)
def test_every_row_is_in_the_tree_once(grouping: str, rows: list[ProfileRow]) -> None:
    costs = leaves(rows, {name: name for name in ORIGINS})
    found = tree(costs, grouping)
    assert sorted(c.also for c in flattened(found)) == sorted(c.also for c in costs)
    whole = total("", found)
    assert whole.seconds == sum(r.seconds for r in rows)
    assert whole.made == sum(r.bytes_made for r in rows)
    assert whole.calls == len(rows)
    for cost in flattened((whole,)) if rows else []:
        assert not cost.phases
    if whole.phases:
        assert sum(p.seconds for p in whole.phases) == whole.seconds


def test_an_operation_gathers_its_forward_and_its_gradient() -> None:
    rows = [
        row("conv/a", "forward", "conv/a"),
        row("gradients/conv/a_grad/Mul", "backward", "conv/a"),
        row("gradients/conv/a_grad/Mul_1", "backward", "conv/a"),
        row("train/update_w/ApplyAdam", "update", "conv/w"),
        row("loss", "forward", "loss"),
    ]
    conv, loss = tree(leaves(rows, {r.op: r.origin for r in rows}), "scope")
    a, w = conv.children
    assert (conv.label, conv.seconds, conv.phase) == ("conv", 4.0, "")
    assert [c.label for c in a.children] == ["a", "∂ Mul", "∂ Mul_1"]
    assert (a.label, a.type, a.names) == ("a", "Mul", ("conv/a",))
    assert (w.label, w.phase) == ("w · ApplyAdam", "update")
    assert (loss.label, loss.children) == ("loss", ())


def test_what_several_share_stands_in_the_scope_around_them() -> None:
    origins = {"a/x": "a/x", "a/y": "a/y", "b/z": "b/z"}
    within = row("a/x", "forward", "a/x", also=["a/y"])
    across = row("", "forward", "a/x", also=["a/x", "b/z"])
    scope, merged = tree(leaves([within, across], origins), "scope")
    assert (scope.label, scope.children[0].label) == ("a", "a/x +1")
    assert (merged.label, merged.names) == ("a/x +1", ("a/x", "b/z"))


def test_flat_names_say_which_gradient_it_is() -> None:
    rows = [row("gradients/a_grad/Mul_1", "backward", "a"), row("c/Adam", "update", "c")]
    assert [c.label for c in tree(leaves(rows, {}), "flat")] == ["∂ a · Mul_1", "c · Adam"]


@pytest.mark.parametrize("grouping", PATHS)
def test_a_loop_stands_above_what_is_inside_and_what_it_takes_besides(grouping: str) -> None:
    mul = row("net/while/Mul", "forward", "net/while/Mul", 3.0, bytes_made=8, calls=4)
    inner = row(
        "net/while/while/While", "forward", "net/while/while/While", 4.0, inside=[mul], bytes_made=9
    )
    loop = row(
        "net/while/While", "forward", "net/while/While", 9.0, inside=[mul, inner], bytes_made=20
    )
    costs = leaves([loop, row("x", "forward", "x")], {})
    assert len({cost.key for cost in apart(costs)}) == 5
    found = tree(costs, grouping)
    while found[0].name != "net/while/While":
        found = found[0].children
    product, nested, between = found[0].children
    assert [(c.label, c.seconds, c.made) for c in found[0].children] == [
        ("Mul", 3.0, 8),
        ("while/While", 4.0, 9),
        (BETWEEN, 2.0, 3),
    ]
    assert [(c.label, c.seconds) for c in nested.children] == [(product.name, 3.0), (BETWEEN, 1.0)]
    assert between.names == ("net/while/While",)
    whole = total("", tree(costs, grouping))
    assert sum(c.seconds for c in flattened((whole,))) == whole.seconds == 10.0
