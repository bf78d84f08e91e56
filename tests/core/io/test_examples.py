"""The bundled examples are what their builder builds, and hold no mistakes."""

from __future__ import annotations

import pytest

from gradstep.core.graph.scopes import parents
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.typing.inference import infer
from tests.examples.build import EXAMPLES, FOLDER
from tests.support.each_case import each_of


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.gradstep")} == set(EXAMPLES)


@pytest.mark.slow
@each_of("name", EXAMPLES)
def test_the_file_is_what_the_builder_builds(name: str) -> None:
    built = gradstep_file.to_bytes(EXAMPLES[name]())
    assert (FOLDER / f"{name}.gradstep").read_bytes() == built, (
        "run `python -m tests.examples.build`"
    )


@each_of("name", EXAMPLES)
def test_it_is_sound_and_placed(name: str) -> None:
    document = read(FOLDER / f"{name}.gradstep")
    assert infer(document.graph).problems == ()
    assert document.title
    assert document.note
    placed = set(document.view.positions)
    assert placed in (set(), set(document.graph.operations)), "by hand, or by automatic layout"
    assert document.view.collapsed <= {s for op in document.graph for s in parents(op.name)}
    for fed in document.feeds:
        assert document.graph[fed.partition(":")[0]].type == "Placeholder"
