"""What every example says of its runs holds, and the start page knows them all."""

from __future__ import annotations

import json
import re

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImageReader

from gradstep.core.checks.expectations.expectation_runs import check_expectations
from gradstep.core.checks.gradients import node_checks
from gradstep.core.cli.command_line import main
from gradstep.core.document.document import Document
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.program.trust import example_index
from gradstep.core.program.user_code import functions_of
from gradstep.gpu.devices import Devices
from gradstep.gui.panels.welcome.example_card import PICTURE, PICTURES
from gradstep.main import Gradstep
from tests.examples.build import EXAMPLES, FOLDER
from tests.examples.page import PAGE, page
from tests.support.each_case import each_of
from tests.support.other_processors import other_processor

BYTES = 15_000  # of a small picture


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_it_says_of_its_runs_holds(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so its check passes, also where it shows a failure or a wrong gradient. Of what each
    operation reads a few elements are looked at, and of each gradient all."""
    monkeypatch.setattr(node_checks, "_MOST", 8)
    status = main(["check", str(FOLDER / f"{name}.gradstep"), "--trust", "--json"], Gradstep())
    found = json.loads(capsys.readouterr().out)
    assert found["expectations"], "an example says what its runs give"
    assert [(e["text"], e["what"], e["came"]) for e in found["expectations"] if not e["ok"]] == []
    assert (status, found["passed"]) == (0, True), found["conclusion"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_holds_on_any_processor(name: str) -> None:
    """What a document expects is not the last bit of whoever wrote it."""
    document = load(FOLDER / f"{name}.gradstep")
    functions, _ = functions_of(document.code.values(), trusted=True)
    with other_processor(len(name)):
        checked = check_expectations(document, functions, Devices().open_backend)
    assert [(e.text, e.what, e.came) for e in checked if not e.ok] == []


@each_of("name", EXAMPLES)
def test_the_operations_that_it_names_are_there(name: str) -> None:
    document = load(FOLDER / f"{name}.gradstep")
    text = f"{document.note} {document.claim} {document.truth}"
    named = set(re.findall(r"`(\w+(?:/\w+)+)`", text))
    assert named <= set(document.graph.operations), "a name with a scope is a link to a node"


@pytest.mark.slow
def test_the_index_and_the_page_are_those_of_the_files() -> None:
    built: dict[str, Document] = {name: build() for name, build in EXAMPLES.items()}
    entries = [example_index.entry_of(name, document) for name, document in built.items()]
    assert example_index.load(FOLDER) == entries, "run `python -m tests.examples.build`"
    assert PAGE.read_text(encoding="utf-8") == page(built)
    assert all(entry.sentence and entry.group and entry.title for entry in entries)


def test_every_example_has_its_pictures_in_both_themes() -> None:
    wanted = {f"{name}-{look}.webp" for name in EXAMPLES for look in ("dark", "light")}
    there = {path.name: path for path in PICTURES.glob("*")}
    assert set(there) == wanted, "run `./dev examples`"
    for path in there.values():
        assert path.stat().st_size < BYTES, path.name
        assert QImageReader(str(path)).size() == QSize(PICTURE * 2)
