"""The program before an edit is found again, unless it would be another one now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.graph.model import Constant
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.recent_programs import RecentPrograms


def _document(**more: object) -> Document:
    build = GraphBuilder()
    x = build.placeholder("x", shape=(None, 2))
    build.one("Tanh", x, name="y")
    return Document(graph=build.build()).with_(**more)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.npy"
    np.save(path, np.ones((4, 2), np.float32))
    return path


def _undone(document: Document) -> tuple[RecentPrograms, Program, Program]:
    """A document, and an edit of it, which is to be undone: what is kept, and both programs."""
    recent, first = RecentPrograms(), derive(document)
    recent.keep(document, first)
    edited = document.with_(feeds={"y:0": Constant(np.zeros((1, 2), np.float32))})
    second = derive(edited, previous=first)
    recent.keep(edited, second)
    return recent, first, second


def test_an_undone_edit_has_the_program_that_there_was() -> None:
    document = _document()
    recent, first, second = _undone(document)
    found = recent.find(document, second)
    assert found is not None
    assert found.program is first


def test_what_no_program_is_derived_from_may_be_another() -> None:
    document = _document()
    recent, first, second = _undone(document)
    now = document.with_(breakpoints=(Breakpoint("y"),))
    found = recent.find(now, second)
    assert found is not None
    assert found.program is first
    assert found.document.breakpoints == now.breakpoints


def test_data_that_stays_on_the_disk_gives_the_same_program(file: Path) -> None:
    document = _document(data=Dataset({"x:0": f"@{file}"}, batch=2))
    recent, first, second = _undone(document)
    found = recent.find(document, second)
    assert found is not None
    assert found.program is first


def test_data_that_is_other_on_the_disk_is_read_again(file: Path) -> None:
    document = _document(data=Dataset({"x:0": f"@{file}"}, batch=2))
    recent, _, second = _undone(document)
    np.save(file, np.zeros((6, 2), np.float32))
    assert recent.find(document, second) is None
    file.unlink()
    assert recent.find(document, second) is None


def test_data_that_could_not_be_read_is_tried_again(file: Path) -> None:
    rows = file.read_bytes()
    file.unlink()
    document = _document(data=Dataset({"x:0": f"@{file}"}, batch=2))
    recent, _, second = _undone(document)
    file.write_bytes(rows)
    assert recent.find(document, second) is None


def test_python_may_give_something_else_each_time() -> None:
    code = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x\n")}
    document = _document(code=code)
    recent, _, second = _undone(document)
    assert recent.find(document, second) is None
