"""Where nodes stand after edits is what it would be anew, and each says what it made other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.document import Document, View
from gradstep.core.document.document_edits import move, rename_operation
from gradstep.core.document.node_positions import (
    Positions,
    find_relocated,
    held,
    moved,
    renamed,
)
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.native import document_diff
from gradstep.core.persistent.edited_columns import Table
from gradstep.core.persistent.joined_sequence import SHORT
from tests.support.large_graphs import edit_as_large

_NAMES = st.sampled_from("abcdefg")
_PLACES = st.tuples(st.sampled_from((0.0, -0.0, 1.0)), st.just(2.0))
_POSITIONS = st.dictionaries(_NAMES, _PLACES)


def _edited(positions: Positions, data: st.DataObject) -> tuple[Positions, dict[str, object]]:
    """After an edit, and the same by hand."""
    if data.draw(st.booleans()):
        others = data.draw(st.dictionaries(_NAMES, _PLACES))
        return moved(positions, others), {**positions, **others}
    names = data.draw(st.dictionaries(_NAMES, _NAMES, max_size=2))
    names = {old: new for old, new in names.items() if old in positions and new not in positions}
    if len({*names.values()}) < len(names):
        names = {}
    return renamed(positions, names), {names.get(n, n): at for n, at in positions.items()}


@given(_POSITIONS, st.data())
def test_edits_of_many_places_are_as_edits_of_few(
    first: dict[str, tuple[float, float]], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        edit_as_large(patch)
        before = begun = held(first)
        for _ in range(data.draw(st.integers(1, 5))):
            now, expected = _edited(before, data)
            assert [*now.items()] == [*expected.items()]
            assert now == expected
            assert (before == now) is (dict(before.items()) == expected)
            assert (begun == now) is (first == expected)
            known = find_relocated(before, now)
            if known is not None:
                others, gone = known
                assert gone == [name for name in before if name not in now]
                differ = [n for n in now if n not in before or now[n] is not before[n]]
                assert {*differ} <= {*others}
                assert others == [name for name in now if name in {*others}]
            before = now


def test_an_edit_of_very_many_places_looks_at_few(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.of(Operation(f"n{i}", "NoOp") for i in range(SHORT))
    view = View(held({name: (float(i), 0.0) for i, name in enumerate(graph.operations)}))
    first = Document(graph=graph, view=view)
    before = move(first, {"n7": (1.0, 1.0)})
    after = rename_operation(before, "n9", "other")
    assert isinstance(after.view.positions, Table)
    looked: list[object] = []
    same = document_diff._same

    def counted(a: object, b: object) -> bool:
        looked.append(a)
        return same(a, b)

    monkeypatch.setattr(document_diff, "_same", counted)
    monkeypatch.setattr(document_diff, "_gone", lambda old, new: looked.extend(old) or [])
    for one, other in ((first, before), (before, after), (after, before)):
        made = document_diff.apply(one, document_diff.differences(one, other))
        assert made.view.positions == other.view.positions
    assert len(looked) < 200
