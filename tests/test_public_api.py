"""The names that `import gradstep` offers, what they cost, and the page about them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gradstep

ROOT = Path(__file__).parent.parent
_LOADED = "import sys; before = {*sys.modules}; import gradstep; print(*{*sys.modules} - before)"


def _modules_of(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_importing_it_loads_nothing_heavy() -> None:
    """Bare Python, and at most a handful of its own small modules."""
    loaded = _modules_of(_LOADED)
    assert "gradstep" in loaded
    assert not [name for name in loaded if name.startswith("gradstep.")]
    ours = {"typing", "collections", "gradstep"}
    assert not [name for name in loaded if name.split(".")[0].strip("_") not in ours]


@pytest.mark.slow
def test_a_session_loads_neither_qt_nor_a_gpu() -> None:
    example = ROOT / "assets/examples/tutorial.gradstep"
    code = f"net = gradstep.open({str(example)!r}); net.grad('loss', 'c'); print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in _modules_of(f"import gradstep, sys; {code}")}
    assert "numpy" in loaded
    assert not loaded & {"PySide6", "shiboken6", "pyqtgraph", "cupy"}


def test_every_public_name_is_there_and_documented() -> None:
    assert dir(gradstep) == sorted(gradstep.__all__)
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    for name in gradstep.__all__:
        found = getattr(gradstep, name)
        assert inspect.getdoc(found), name
        assert re.search(rf"`(gs\.)?{name}\b", page), f"docs/python.md has no {name}"


@pytest.mark.parametrize("name", ["Session", "Debugger"])
def test_every_public_method_is_documented(name: str) -> None:
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    for member, found in inspect.getmembers(getattr(gradstep, name)):
        if not member.startswith("_"):
            assert inspect.getdoc(found), f"{name}.{member}"
            assert re.search(rf"`[^`\n]*\b{member}\b", page), f"docs/python.md has no {member}"


def test_a_name_that_it_does_not_have() -> None:
    with pytest.raises(AttributeError, match="module 'gradstep' has no attribute 'opne'"):
        gradstep.opne  # noqa: B018


def test_the_version_is_the_installed_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert gradstep.__version__ == project["project"]["version"]


def test_its_types_are_shipped() -> None:
    """PEP 561: the marker is there, and goes into the wheel."""
    assert (ROOT / "py.typed").exists()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["gradstep"]


def test_the_page_about_it_can_be_followed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/python.md: its code runs, and prints what it says."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(code, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    said = re.findall(r"print\(.*\)  # (.*)", text)
    assert said
    assert [line for line in said if line not in printed] == []


def test_the_debugger_takes_what_opening_takes() -> None:
    debugged, opened = (inspect.signature(f).parameters for f in (gradstep.debug, gradstep.open))
    assert debugged == opened
