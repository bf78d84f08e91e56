"""A document's Python runs in a script only when the script, or its user, has said so."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import gradstep
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust.code_trust import allow
from gradstep.core.program.trust.permission_levels import Permission
from tests.core.cli.test_untrusted import document
from tests.fuzz.case import CANARY
from tests.support import article
from tests.support import gradient_facts as facts

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
ROUTES: list[Callable[[gradstep.Session], object]] = [
    lambda net: net.run("called"),
    lambda net: net.run(),
    lambda net: net.grad("called", "x"),
    lambda net: net.grad(),
    lambda net: net.why("y"),
    lambda net: net.why("y", "x"),
    lambda net: net.debug().continue_(),
    lambda net: net.problems,
]


@pytest.fixture(autouse=True)
def unmarked() -> Iterator[None]:
    """No piece of it has run in the end."""
    builtins.__dict__.pop(CANARY, None)
    yield
    assert not builtins.__dict__.pop(CANARY, False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd.gradstep"
    gradstep_file.save(path, document())
    return path


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_runs_it(file: Path, route: Callable[[gradstep.Session], object]) -> None:
    net = gradstep.open(file)
    with suppress(gradstep.GradstepError):  # where it is needed, that is said
        route(net)


def test_it_says_how_to_let_it_run(file: Path) -> None:
    with pytest.raises(gradstep.GradstepError) as raised:
        gradstep.open(file).run("called")
    assert raised.value.kind == "UntrustedCodeError"
    assert f"gradstep convert {file} -" in raised.value.hint
    assert "trusted=True" in raised.value.__notes__[-1]


def test_it_runs_where_the_script_says_so(file: Path) -> None:
    with pytest.raises(gradstep.GradstepError):  # it returns nothing
        gradstep.open(file, trusted=True).run("called")
    assert builtins.__dict__.pop(CANARY, False)


def test_and_where_the_user_has_said_so_before(file: Path) -> None:
    allow(document(), Permission.FULL, str(file))
    with pytest.raises(gradstep.GradstepError):
        gradstep.open(file).run("called")
    assert builtins.__dict__.pop(CANARY, False)


def test_what_a_graph_only_names_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "article.pb"
    path.write_bytes(facts.graph_bytes("article_forward"))
    feeds = {"data": [1.0, 2.0], "labels": [0.0, 1.0]}
    net = gradstep.open(path, code=article.functions(tmp_path))
    assert net.run("loss", feeds) == pytest.approx(article.LOSS, rel=1e-7)
    np.testing.assert_allclose(net.grad("loss", "c", feeds), article.BY_C, rtol=1e-6)
    with pytest.raises(gradstep.GradstepError, match="asks for no Python"):
        gradstep.open(EXAMPLES / "tutorial.gradstep", code=article.functions(tmp_path))
