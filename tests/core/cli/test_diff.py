"""`gradstep diff`: what is other in a document, by structure where names are others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.graph.edits import rename
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.graph.relabel import relabel
from gradstep.core.graph.structural_alignment import find_renames
from gradstep.core.io.native import gradstep_file
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
DOCUMENT = gradstep_file.load(TUTORIAL)


@pytest.fixture
def against(cli: Cli, tmp_path: Path) -> Callable[..., list[tuple[str, str, str]]]:
    """What is other in a document than in the tutorial."""

    def found(other: Document, *more: str) -> list[tuple[str, str, str]]:
        gradstep_file.save(tmp_path / "other.gradstep", other)
        result = cli("diff", TUTORIAL, tmp_path / "other.gradstep", *more, "--json")
        assert result.status == bool(result.json["changes"])
        return [(c["kind"], c["name"], " ".join(c["details"])) for c in result.json["changes"]]

    return found


def test_the_same_twice(against: Callable[..., object]) -> None:
    assert against(DOCUMENT) == []


def test_renamed_rewired_and_other_attributes(against: Callable[..., object]) -> None:
    other = document_edits.rename_operation(DOCUMENT, "e", "sum")
    other = document_edits.connect(other, TensorRef("k"), Edge("d", 0))
    other = document_edits.set_feed(other, "labels:0", other.feeds["labels:0"].array * 2)
    assert against(other) == [
        ("renamed", "e", "sum"),
        ("changed", "d", "inputs: data, c → k, c"),
        ("changed", "labels:0", "float32[2] [0.0, 1.0] → float32[2] [0.0, 2.0]"),
    ]
    by_name = against(other, "--names")
    assert ("removed", "e", "AddV2") in by_name  # type: ignore[operator]
    assert ("added", "sum", "AddV2") in by_name  # type: ignore[operator]


@given(st.sets(st.sampled_from([*DOCUMENT.graph.operations])))
def test_renamed_nodes_are_found_by_what_is_around_them(names: set[str]) -> None:
    new = {name: f"other/{name}" for name in names}
    other = relabel(DOCUMENT.graph, lambda name: new.get(name, name))
    assert find_renames(DOCUMENT.graph, other) == new


def test_two_that_are_alike_are_not_told_apart() -> None:
    graph = document_edits.add_operation(DOCUMENT, "Const", (0, 0))[0]
    twice, second = document_edits.add_operation(graph, "Const", (0, 0))
    first = next(n for n in graph.graph.operations if n not in DOCUMENT.graph.operations)
    other = rename(rename(twice.graph, first, "one"), second, "two")
    assert find_renames(twice.graph, other) == {}


def test_source_lines_are_counted(cli: Cli, tmp_path: Path) -> None:
    """A line that somebody put before the model moves all of it."""

    def written(line: int, epsilon: float) -> Path:
        operations = {
            name: replace(op, attrs={**op.attrs, "_source": f"net.py:{line}"})
            for name, op in DOCUMENT.graph.operations.items()
        }
        e = operations["e"]
        operations["e"] = replace(e, attrs={**e.attrs, "_epsilon": epsilon})
        path = tmp_path / f"{line}.gradstep"
        gradstep_file.save(path, DOCUMENT.with_(graph=Graph(operations)))
        return path

    one, other = written(4, 0.1), written(6, 0.2)
    count = len(DOCUMENT.graph.operations)
    short = cli("diff", one, other)
    assert short.status == 1
    assert short.out.splitlines() == [
        "~ node e  _epsilon: 0.1 → 0.2",
        f"~ source lines of {count} nodes  (--all lists them)",
    ]
    whole = cli("diff", one, other, "--all")
    assert whole.out.count("_source: 'net.py:4' → 'net.py:6'") == count
    assert len(cli("diff", one, other, "--json").json["changes"]) == count
