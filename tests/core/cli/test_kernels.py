"""--kernels: other libraries compute where they are asked for, and the answer says which."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gradstep.core.engine.kernels import kernel_libraries as library
from gradstep.core.engine.kernels.kernel_libraries import Library
from gradstep.core.installation import extra_command
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

GATHER = FOLDER / "gather.gradstep"
QUESTION = ("--of", "b", "--wrt", "params", "--feed", "indices=[0,1,1]")


def add_columns(count, columns, width, starts, places, ones, values, total) -> None:  # type: ignore[no-untyped-def]
    np.add.at(total.reshape(count, width), places, values.reshape(columns, width))


@pytest.fixture
def scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy's loops, in Python; no other library is there."""

    def version(library: Library) -> str | None:
        return "1.17.1" if library.name == "SciPy" else None

    loops = SimpleNamespace(csc_matvecs=add_columns)
    monkeypatch.setattr(library, "_opened", lambda which: loops)
    monkeypatch.setattr(Library, "version", property(version))


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library is there."""
    monkeypatch.setattr(Library, "version", None)


@pytest.mark.usefixtures("scipy")
@pytest.mark.parametrize("wish", ["auto", "scipy"])
def test_grad_says_who_computed_what(cli: Cli, wish: str) -> None:
    plain = cli("grad", GATHER, *QUESTION, "--json").json
    found = cli("grad", GATHER, *QUESTION, "--kernels", wish, "--json").json
    assert "kernels" not in plain
    assert list(found.pop("kernels").values()) == ["SciPy"]
    assert found == plain
    assert "by SciPy: gradients/" in cli("grad", GATHER, *QUESTION, "--kernels", wish).out


@pytest.mark.usefixtures("scipy")
def test_run_says_that_nothing_was_to_gain(cli: Cli) -> None:
    tutorial = FOLDER / "tutorial.gradstep"
    found = cli("run", tutorial, "--fetch", "loss", "--kernels", "auto", "--json").json
    assert found["kernels"] == {}


@pytest.mark.usefixtures("nothing")
def test_auto_does_without(cli: Cli) -> None:
    assert cli("grad", GATHER, *QUESTION, "--kernels", "auto", "--json").json["kernels"] == {}


@pytest.mark.usefixtures("nothing")
def test_a_library_that_is_asked_for_must_be_there(cli: Cli) -> None:
    result = cli("grad", GATHER, *QUESTION, "--kernels", "onednn", "--json")
    assert result.status == 1
    assert result.json["error"]["message"] == "oneDNN is not installed"
    assert extra_command("kernels") in result.json["error"]["hint"]


@pytest.mark.usefixtures("scipy")
def test_doctor_says_what_is_there_and_what_it_gains(cli: Cli) -> None:
    result = cli("doctor", "--json")
    checks = {check["name"]: check for check in result.json["checks"]}
    assert checks["SciPy"]["ok"]
    assert checks["SciPy"]["text"].startswith("1.17.1; with --kernels, UnsortedSegmentSum in 0.")
    assert not checks["oneDNN"]["ok"]
    assert "Conv2DBackpropFilter" in checks["oneDNN"]["text"]
    assert extra_command("kernels") in checks["oneDNN"]["fix"]
    assert result.status == 0
