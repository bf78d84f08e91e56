"""A difference between two documents, put on the first, gives the second to the last bit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind, Document, View
from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.changes import find_others
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native import document_diff, gradstep_file
from gradstep.core.io.native.document_diff import Difference, apply, differences
from tests.core.io.documents import documents
from tests.support.drawn_share import share
from tests.support.edited_graphs import assert_edit_is_known, edited

EXAMPLES = Path(__file__).parents[4] / "assets" / "examples"
NAMES = ("tutorial", "batch_norm_updates", "while_loop", "queue_train_validation", "override_add")


LONG = "batch_norm_updates"  # graphs remember edits that are small beside them


@cache
def example(name: str) -> Document:
    return gradstep_file.load(EXAMPLES / f"{name}.gradstep")


def assert_leads_to(before: Document, after: Document) -> Difference:
    """It does, also through its bytes."""
    found = differences(before, after)
    for difference in (found, Difference.from_bytes(found.to_bytes())):
        made = apply(before, difference)
        assert gradstep_file.to_bytes(made) == gradstep_file.to_bytes(after)
        assert_edit_is_known(before.graph, made.graph)
    return found


@given(documents, documents)
@pytest.mark.slow
def test_between_any_two_documents(before: Document, after: Document) -> None:
    assert_leads_to(before, after)


def _edit(document: Document, draw: Any) -> Document:
    names = sorted(document.graph.operations)
    some = draw(st.sampled_from(names)) if names else ""
    kind = draw(st.sampled_from(("graph", "add", "remove", "rename", "copy", "move", "rest")))
    if kind == "graph":
        return document.with_(graph=edited(document.graph, set(), draw))
    if kind == "add" or not some:
        return document_edits.add_operation(document, "VariableV2", (1.0, -0.0), "new")[0]
    if kind == "remove":
        return document_edits.remove_operations(document, [some])
    if kind == "rename":
        return document_edits.rename_operation(document, some, f"{some}_2")
    if kind == "copy":
        return document_edits.duplicate_operations(
            document, draw(st.lists(st.sampled_from(names)))
        )[0]
    if kind == "move":
        return document_edits.move(document, {some: (draw(st.sampled_from((0.0, -0.0, 7.5))), 2.0)})
    array = draw(st.sampled_from((np.float32(-0.0), np.float32(0.0), np.arange(99))))
    return draw(
        st.sampled_from(
            (
                document.with_(feeds={**document.feeds, some: Constant(array)}),
                document.with_(initial={}),
                document.with_(note="n", fetches=(TensorRef(some),)),
                document.with_(request=GradientRequest(of=(TensorRef(some),))),
                document.with_(code={"f": CodeItem("f", CodeKind.PYFUNC, f"# {some}")}),
                document.with_(view=replace(document.view, collapsed=frozenset((some,)))),
            )
        )
    )


@given(st.sampled_from(NAMES), st.data())
@pytest.mark.slow
def test_after_edits_of_examples(name: str, data: Any) -> None:
    """One by one, as a journal has them, and all at once."""
    first = kept = current = example(name)
    for _ in range(data.draw(st.integers(1, 4))):
        try:
            after = _edit(current, data.draw)
        except GradstepError:
            continue
        kept = apply(kept, Difference.from_bytes(differences(current, after).to_bytes()))
        current = after
    assert gradstep_file.to_bytes(kept) == gradstep_file.to_bytes(current)
    assert_leads_to(first, current)
    assert_leads_to(current, first)


@settings(max_examples=share(20))
@given(st.data())
@pytest.mark.slow
def test_what_a_graph_remembers_of_its_edit_says_the_same(data: Any) -> None:
    """Of the edit, and of its undoing."""
    current = example(LONG)
    for _ in range(3):
        try:
            after = _edit(current, data.draw)
        except GradstepError:
            continue
        after = after.with_(graph=continue_graph(after.graph, current.graph))
        unknowing = [d.with_(graph=Graph({**d.graph.operations})) for d in (current, after)]
        for one, other in ((0, 1), (1, 0)):
            known = (current, after)[one], (current, after)[other]
            found = differences(unknowing[one], unknowing[other])
            assert assert_leads_to(*known).to_bytes() == found.to_bytes()
        current = after


def test_an_edit_that_is_remembered_is_told_without_comparing_all(monkeypatch: Any) -> None:
    before = example(LONG)
    name = next(iter(before.graph.operations))
    after = document_edits.rename_operation(before, name, "sum")
    after = after.with_(graph=continue_graph(after.graph, before.graph))

    def of_parts(old: Any, new: Any) -> Any:
        assert old is not before.graph.operations
        assert old is not after.graph.operations
        return find_others(old, new)

    monkeypatch.setattr(document_diff, "find_others", of_parts)
    for one, other in ((before, after), (after, before)):
        record = differences(one, other).record
        assert record.removed == ([name] if one is before else ["sum"])


def test_only_what_changed_is_in_it() -> None:
    before = example("tutorial")
    after = document_edits.move(before, {"e": (1.0, 2.0)})
    record = differences(before, after).record
    assert record.view.positions == {"e": (1.0, 2.0)}
    assert record.document.operations == []
    assert not record.document.feeds
    assert apply(before, differences(before, after)).graph is before.graph
    assert not differences(before, before)
    assert differences(before, after)


def test_what_did_not_change_is_shared() -> None:
    before = example("tutorial")
    after = document_edits.add_operation(before, "Tanh", (0.0, 0.0), "t")[0]
    again = apply(before, differences(before, after))
    assert all(again.graph[op.name] is op for op in before.graph)
    assert again.feeds is before.feeds


def test_a_stop_brings_nothing_else_of_the_request() -> None:
    before = Document(
        request=GradientRequest(
            of=(TensorRef("y"),), wrt=tuple(TensorRef(f"w{i}") for i in range(1_000))
        )
    )
    stops = frozenset({TensorRef("h")})
    after = before.with_(request=replace(before.request, stops=stops))
    names, buffers = differences(before, after).to_buffers()
    assert sum(map(len, buffers)) < 200
    assert apply(before, Difference.from_buffers(names, buffers)).request == after.request
    none = before.with_(request=replace(before.request, wrt=()))
    assert apply(before, differences(before, none)).request == none.request


@pytest.mark.parametrize(
    ("old", "new"), [(1, 1.0), (1, True), (0.0, -0.0)], ids=["int", "bool", "sign"]
)
def test_equal_attributes_that_are_not_the_same(old: object, new: object) -> None:
    def with_(value: object) -> Document:
        return Document(graph=Graph.of([Operation("a", "A", attrs={"n": value})]))

    assert_leads_to(with_(old), with_(new))


def test_a_difference_from_another_document_is_refused() -> None:
    one = example("tutorial")
    less = document_edits.remove_operations(one, ["e"])
    with pytest.raises(GradstepError, match="does not fit"):
        apply(less, differences(one, less))
    far = one.with_(view=View({}))
    with pytest.raises(GradstepError, match="does not fit"):
        apply(far, differences(one, far))


@pytest.mark.parametrize(
    "names", ["abcd", "dcba", "acbd", "xabcd", "axxbcd", "abxcyd", "bxda", "ad", "", "xcyaz"]
)
def test_the_order_of_operations(names: str) -> None:
    """New ones at the beginning, amid and at the end; others gone, or in other places."""

    def graph(names: str) -> Document:
        unique = dict.fromkeys(f"{n}{names[:i].count(n)}" for i, n in enumerate(names))
        return Document(graph=Graph.of(Operation(name, "NoOp") for name in unique))

    assert_leads_to(graph("abcd"), graph(names))
    assert_leads_to(graph(names), graph("abcd"))
