"""Branches in a document: saved, renamed with it, refused where a file says nonsense."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.document import Document
from gradstep.core.document.kept_branch import (
    KeptBranch,
    KeptChange,
    KeptEdit,
    KeptPlace,
    KeptTurn,
    require_tree,
)
from gradstep.core.document.kept_branches import begin, keep
from gradstep.core.document.node_renaming import rename_node
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.document_diff import apply, differences

NUMBERS = st.integers(0, 9)
VALUES = st.sampled_from([Constant(np.float32(3)), Constant(np.ones((2, 3)))])
CHANGES = st.builds(
    KeptChange,
    run=NUMBERS,
    step=NUMBERS,
    op=st.sampled_from(["", "a"]),
    values=st.dictionaries(st.sampled_from(["a", "b:1", "a:counter"]), VALUES, max_size=2),
    words=st.text(max_size=4),
)


EDITS = st.builds(
    KeptEdit,
    run=NUMBERS,
    step=NUMBERS,
    op=st.sampled_from(["", "a"]),
    kind=st.sampled_from(["stop", "override", "pray"]),
    names=st.lists(st.sampled_from(["a", "b<1", "op"]), max_size=3).map(tuple),
    words=st.text(max_size=4),
)


PLACES = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=2).map(tuple)
OPS = st.lists(st.sampled_from(["", "a"]), max_size=2).map(tuple)
STANDS = st.lists(st.builds(KeptPlace, st.sampled_from(["main", "one"]), PLACES, OPS), max_size=2)
GIVEN = st.none() | st.dictionaries(st.sampled_from(["a", "b:1"]), VALUES, max_size=2)
TURNS = st.builds(
    KeptTurn,
    thread=st.sampled_from(["main", "one"]),
    place=PLACES,
    ops=OPS,
    tried=st.booleans(),
    given=GIVEN,
    words=st.text(max_size=2),
    assigned=GIVEN,
)


@st.composite
def trees(draw: Any) -> tuple[KeptBranch, ...]:
    names = draw(st.lists(st.text("abc <>", min_size=1, max_size=3), min_size=2, unique=True))
    found, counts = [KeptBranch(names[0], "", 0, 0, "")], {names[0]: 0}
    for number, name in enumerate(names[1:], 1):
        parent = names[draw(st.integers(0, number - 1))]
        changes = tuple(draw(st.lists(CHANGES, max_size=2)))
        place = draw(NUMBERS), draw(NUMBERS)
        where, edits = (draw(NUMBERS), draw(NUMBERS), "a"), draw(st.lists(EDITS, max_size=2))
        branch = KeptBranch(name, parent, *where, changes, 0, place, tuple(edits))
        found.append(_with_turns(draw, branch, counts[parent]) if draw(st.booleans()) else branch)
        counts[name] = counts[parent] - len(found[-1].lacks) + len(edits)
    return tuple(found)


def _with_turns(draw: Any, branch: KeptBranch, before: int) -> KeptBranch:
    """As beside threads. before: how many edits its parent has."""
    lacks = tuple(n for n in range(before) if draw(st.booleans()))
    count, turns = before - len(lacks) + len(branch.edits), draw(st.lists(TURNS, max_size=3))
    turns = [replace(turn, edit=draw(st.integers(0, count))) for turn in turns]
    left, stands = (tuple(draw(STANDS)) for _ in range(2))
    found = replace(branch, left=left, stands=stands, lacks=lacks, turns=tuple(turns))
    return replace(found, thread=draw(st.sampled_from(["", "one"])))


@given(trees(), trees())
def test_they_come_back_from_a_file_and_a_difference(
    tree: tuple[KeptBranch, ...], other: tuple[KeptBranch, ...]
) -> None:
    document, before = Document(branches=tree), Document(branches=other)
    assert gradstep_file.from_bytes(gradstep_file.to_bytes(document)).branches == tree
    assert apply(before, differences(before, document)).branches == tree
    begun = {branch.name: branch for branch in begin(tree)}
    assert [*begun] == [branch.name for branch in tree]
    for branch in begun.values():
        if branch.parent:  # those of the branch that it leaves are the very same
            lacks = next(each.lacks for each in tree if each.name == branch.name)
            theirs = begun[branch.parent].edits
            inherited = tuple(edit for n, edit in enumerate(theirs) if n not in lacks)
            assert branch.edits[: branch.edits_inherited] == inherited
    assert keep(begun.values())[1:] == tree[1:]


def test_names_follow_the_operations() -> None:
    values = {
        "a": Constant(np.float32(1)),
        "b:1": Constant(np.float32(2)),
        "c:counter": Constant(3),
    }
    change = KeptChange(0, 1, "a", values)
    tree = KeptBranch("main", "", 0, 0, ""), KeptBranch("b1", "main", 0, 1, "a", (change,))
    renamed = rename_node(Document(branches=tree), lambda name: f"net/{name}" if name else "")
    [_, branch] = renamed.branches
    assert (branch.op, branch.changes[0].op) == ("net/a", "net/a")
    assert [*branch.changes[0].values] == ["net/a", "net/b:1", "net/c:counter"]


@given(trees(), st.data())
def test_what_is_no_tree_is_refused(tree: tuple[KeptBranch, ...], data: st.DataObject) -> None:
    last, rest = tree[-1], tree[:-1]
    broken = data.draw(
        st.sampled_from(
            [
                (*rest, replace(last, parent="nowhere")),
                (*rest, replace(last, parent="")),
                (*rest, replace(last, parent=last.name)),
                (*rest, replace(last, turns=(KeptTurn("one", ((1, 0),), edit=99),))),
                (*rest, replace(last, turns=(KeptTurn("one", edit=1),))),
                (*rest, replace(last, stands=(KeptPlace("one"),))),
                (*tree, replace(last, parent=tree[0].name)),
                (*rest, replace(last, name="")),
                tree[1:],
            ]
        )
    )
    with pytest.raises(GradstepError, match="no tree"):
        require_tree(broken)


def test_edits_follow_the_operations() -> None:
    edits = (
        KeptEdit(0, 1, "a", "stop", ("a<1",)),
        KeptEdit(0, 1, "", "set", ("a", "a", "a")),
        KeptEdit(0, 1, "", "override", ("a", "a", "op")),
        KeptEdit(0, 1, "", "override", ("a", "a", "type")),
        KeptEdit(0, 1, "", "stop", ("a:0",)),
    )
    kept = (KeptBranch("main", "", 0, 0, ""), KeptBranch("b", "main", 0, 0, "", edits=edits))
    renamed = rename_node(Document(branches=kept), lambda name: "z" if name == "a" else name)
    assert [(edit.op, *edit.names) for edit in renamed.branches[1].edits] == [
        ("z", "z<1"),
        ("", "z", "a", "a"),
        ("", "a", "z", "op"),
        ("", "a", "a", "type"),
        ("", "z:0"),
    ]


def test_turns_follow_the_operations() -> None:
    given = {"a": Constant(np.float32(1)), "b:1": Constant(np.float32(2))}
    turns = (
        KeptTurn("one", ((0, 1), (2, 3)), ("a", "")),
        KeptTurn("one", given=given, words="a = 1"),
        KeptTurn("one", assigned=given),
    )
    places = (KeptPlace("one", ((0, 1),), ("a",)),)
    branch = KeptBranch("b", "main", 0, 0, "", left=places, stands=places, thread="one")
    kept = KeptBranch("main", "", 0, 0, ""), replace(branch, turns=turns)
    renamed = rename_node(Document(branches=kept), lambda name: "z" if name == "a" else name)
    [_, found] = renamed.branches
    assert [turn.ops for turn in found.turns] == [("z", ""), (), ()]
    assert [*(found.turns[1].given or ())] == ["z", "b:1"]
    assert [*(found.turns[2].assigned or ())] == ["z", "b:1"]
    assert found.left[0].ops == found.stands[0].ops == ("z",)
