"""`./dev package` sees what is wrong with a wheel, and with what is installed."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging import distributions
from tests.packaging.findings import CheckFailedError, Findings, run
from tests.packaging.hidden_checkout import without
from tests.packaging.places import Installed, clean_environment
from tests.packaging.proof import Proof

RECORDS = [
    "entry_points.txt",
    "METADATA",
    "licenses/LICENSE",
    "licenses/assets/fonts/OFL.txt",
    "licenses/assets/data/ATTRIBUTION.md",
]


def wheel(path: Path, names: list[str], command: str = "gradstep = gradstep.main:run") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, command)
        for name in RECORDS:
            archive.writestr(f"gradstep-9.dist-info/{name}", command)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout in small, with litter and tests."""
    files = ["main.py", "__init__.py", "core/a/b.py", "core/a/.b.swp", "core/a/__pycache__/b.pyc"]
    for name in [
        *files,
        "gpu/c.py",
        "gui/d.py",
        "assets/x/e.svg",
        "assets/.DS_Store",
        "tests/t.py",
    ]:
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "tree"


def test_a_wheel_is_held_to_the_tree(tree: Path, tmp_path: Path) -> None:
    names = ["main.py", "__init__.py", "core/a/b.py", "gpu/c.py", "gui/d.py", "assets/x/e.svg"]
    whole = [f"gradstep/{name}" for name in names]
    assert distributions.check_wheel(wheel(tmp_path / "a.whl", whole), tree).startswith("11 files")
    for name in whole:
        less = wheel(tmp_path / "b.whl", [other for other in whole if other != name])
        with pytest.raises(CheckFailedError, match=f"the wheel lacks {name}$"):
            distributions.check_wheel(less, tree)
    for name in ("tests/t.py", "gradstep/tests/t.py", "gradstep/assets/.DS_Store", "core/a/b.py"):
        more = wheel(tmp_path / "c.whl", [*whole, name])
        with pytest.raises(CheckFailedError, match=f"should not have {name}$"):
            distributions.check_wheel(more, tree)
    with pytest.raises(CheckFailedError, match="no command"):
        distributions.check_wheel(wheel(tmp_path / "d.whl", whole, "other = x:y"), tree)


def test_the_tree_has_what_a_wheel_needs() -> None:
    names = distributions.expected(distributions.ROOT)
    for name in ("main.py", "core/cli/desktop.py", "gpu/probe.py", "assets/fonts/OFL.txt"):
        assert f"gradstep/{name}" in names
    assert not [name for name in names if "test" in name.split("/") or name.endswith(".pyc")]


def test_warnings_of_a_build_are_seen() -> None:
    said = "copying core/errors.py\nadding 'gradstep/assets/icons/warning.svg'\n"
    assert distributions.warnings_in(said) == []
    assert distributions.warnings_in(f"{said}SetuptoolsDeprecationWarning: no") != []
    assert distributions.warnings_in("_Warning: Package 'x' is absent from `packages`") != []


def test_nothing_of_the_checkout_reaches_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "here")
    monkeypatch.setenv("VIRTUAL_ENV", "here")
    monkeypatch.setenv("PIP_INDEX_URL", "there")
    clean = clean_environment()
    assert not {"PYTHONPATH", "VIRTUAL_ENV", "XDG_DATA_HOME"} & clean.keys()
    assert clean["PIP_INDEX_URL"] == "there"


def test_a_folder_is_hidden_from_a_command_and_from_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "main.py").touch()
    before = without([tmp_path])
    if not before:
        pytest.skip("only the administrator of a Linux can hide a folder")
    run([*before, "test", "!", "-e", tmp_path / "main.py"], Path("/"), os.environ)
    run([*before, "false"], Path("/"), os.environ, status=1)
    assert (tmp_path / "main.py").exists()


def test_an_interpreter_is_never_hidden() -> None:
    assert without([Path(sys.base_prefix).resolve().parent]) == []


def test_a_command_that_is_broken_is_found(tmp_path: Path) -> None:
    command = tmp_path / "gradstep"
    command.write_text("#!/bin/sh\necho gradstep 8; echo oh no >&2; exit $GRADSTEP_STATUS\n")
    command.chmod(0o755)
    findings = Findings(lambda text: None)
    proof = Proof("wheel", Installed(command, command), tmp_path, "9")
    proof.environment = {"PATH": os.environ["PATH"], "GRADSTEP_STATUS": "0"}
    assert not findings.check("version", proof.says_its_version)
    proof.environment["GRADSTEP_STATUS"] = "1"
    proof.into(findings)
    assert [f.text for f in findings.found] == [
        "it says gradstep 8",
        "gradstep -: exit status 1: oh no",
    ]
    assert findings.as_json()["ok"] is False
