"""docs/adding-a-pass.md, followed to the letter: its pass, by its row, in fast runs and reports."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gradstep.core.cli.command_line import main
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes import pass_pipeline, pass_report
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.host import profile_answers
from gradstep.core.io.native.gradstep_file import save
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.main import Gradstep
from tests.support.layouts import Case, assert_same, run

PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-pass.md").read_text(encoding="utf-8")
ROW, SOURCE = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(MODULE,) = re.findall(r"In `core/engine/passes/(\w+).py`", PAGE)
NAME = "double negations"
GUARD = " or (plan.values[same].variable and step.writes[0] in looked_at)"


def _add(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """The page's module, and its row before that of dead code."""
    module = ModuleType(f"{pass_pipeline.__package__}.{MODULE}")
    exec(compile(source, MODULE, "exec"), vars(module))
    (row,) = eval(f"({ROW})", {**vars(pass_pipeline), **vars(module)})
    at = [made.name for made in pass_pipeline.PASSES].index("dead code")
    rows = (*pass_pipeline.PASSES[:at], row, *pass_pipeline.PASSES[at:])
    for user in (pass_pipeline, pass_report, profile_answers):
        monkeypatch.setattr(user, "PASSES", rows)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    _add(monkeypatch, SOURCE)


def _negated(times: int) -> Case:
    b = GraphBuilder()
    y = x = b.placeholder("x", "float32", (3,))
    for number in range(times):
        y = b.one("Neg", y, name=f"n{number + 1}")
    fetched = b.one("Exp", y, name="y").ref
    feeds = {x.ref: np.array([0.0, -np.inf, 3.5], np.float32)}
    return Case(b.build(), (fetched,), feeds=feeds)


def _updated() -> Case:
    """A variable's value, negated twice, is fetched, and the variable then gets another."""
    b = GraphBuilder()
    v = b.variable("v", "float32", (2,))
    twice = b.one("Neg", b.one("Neg", v), name="twice")
    with b.control_dependencies([twice]):
        b.one("AssignAdd", v, np.ones(2, np.float32), name="more")
    return Case(b.build(), (twice.ref,), ("more",), initial={"v": np.zeros(2, np.float32)})


def _saved(case: Case, folder: Path) -> Path:
    path = folder / "negated.gradstep"
    save(path, Document(graph=case.graph))
    return path


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("case", [_negated(2), _negated(5), _updated()], ids=["2", "5", "updated"])
def test_it_changes_no_bit(case: Case) -> None:
    want = run(case, fast=False)
    assert not any(seen.error for seen in want)
    assert_same(want, run(case, fast=True))


def test_without_what_the_page_warns_of_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    careless = SOURCE.replace(GUARD, "")
    assert careless != SOURCE
    _add(monkeypatch, careless)
    with pytest.raises(AssertionError):
        assert_same(run(_updated(), fast=False), run(_updated(), fast=True))


@pytest.mark.usefixtures("added")
def test_the_plan_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _saved(_negated(2), tmp_path)
    command = ["plan", str(path), "--fast", "--fetch", "y"]
    assert main(command, Gradstep()) == 0
    text = capsys.readouterr().out
    assert NAME in text
    assert "n2 is the same as x" in text
    assert "n1 nobody looks at it" in text
    assert main([*command, "--without", NAME], Gradstep()) == 0
    assert "n2 is the same as x" not in capsys.readouterr().out


@pytest.mark.usefixtures("added")
def test_one_negation_is_left_alone() -> None:
    case = _negated(1)
    plan = compile_plan(case.graph, case.fetches, (), [*case.feeds])
    made = next(made for made in pass_pipeline.PASSES if made.name == NAME)
    assert made.run(plan, NumpyBackend()) is plan
