"""Packages: an installation holds all of the tree's, and each says truly what lives there."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

import pytest

from gradstep.core.reference.module_page import docstring
from tests.support.project_names import ROOT, SPAN, is_in, packages


def own_names(text: str) -> list[str]:
    """What stands in backticks, but for commands, of several words, and TensorFlow's names."""
    spans = SPAN.findall(text)
    return [s for s in spans if " " not in s.partition("(")[0] and s.partition(".")[0] != "tf"]


def test_every_package_is_installed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    there = {"gradstep", "gradstep.assets"}
    for top, kind in (("core", "*.py"), ("gpu", "*.py"), ("gui", "*.py"), ("assets", "*.*")):
        for file in (ROOT / top).rglob(kind):
            there.add(".".join(("gradstep", *file.parent.relative_to(ROOT).parts)))
    declared = listed["tool"]["setuptools"]["packages"]
    assert sorted(there) == sorted(declared)


def test_packages_are_called_as_pep_8_has_it() -> None:
    """Ruff's rule for them looks at the folder of the checkout, too, which is anybody's."""
    folders = {part for package in packages() for part in package.relative_to(ROOT).parts}
    assert folders
    assert [name for name in folders if not re.fullmatch(r"[a-z][a-z0-9_]*", name)] == []


def test_every_room_of_core_is_said_to_be_there() -> None:
    rooms = {folder.parent.name for folder in (ROOT / "core").glob("*/__init__.py")}
    assert rooms
    assert rooms <= {*SPAN.findall(docstring(ROOT / "core/__init__.py"))}
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert {f"core/{room}" for room in rooms} <= {*SPAN.findall(page)}


@pytest.mark.slow
def test_every_package_names_what_is_in_it() -> None:
    """In backticks: at least one of its modules or names, and nothing that is not there."""
    wrong = []
    for package in packages():
        text = docstring(package / "__init__.py")
        own = own_names(text)
        missing = [span for span in own if not is_in(package, span)]
        if missing or not own or len(text.splitlines()) > 8:
            wrong.append(f"{package.relative_to(ROOT)}: {missing or text}")
    assert not wrong


@pytest.mark.slow
def test_every_first_line_is_a_sentence() -> None:
    """It is all that docs/modules.md shows of a module."""
    wrong = []
    for package in packages():
        for module in package.glob("*.py"):
            first, _, rest = docstring(module).partition("\n")
            if not first.endswith((".", "…")) or (rest and rest[0] != "\n"):
                wrong.append(f"{module.relative_to(ROOT)}: {first}")
    assert not wrong


def test_no_two_modules_of_core_have_one_name() -> None:
    """A traceback, an import and a search name one place."""
    names = Counter(path.stem for path in (ROOT / "core").rglob("*.py") if path.stem[0] != "_")
    assert [name for name, count in names.items() if count > 1] == []
