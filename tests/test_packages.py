"""Packages: an installation holds all of the tree's, and each says truly what lives there."""

from __future__ import annotations

import tomllib
from collections import Counter

from tests.support.project_names import ROOT, SPAN, docstring, is_in, packages

_OTHERS = ("tf", "gradstep why", "./dev")  # TensorFlow's names, and commands


def test_every_package_is_installed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    there = {"gradstep", "gradstep.assets"}
    for top in ("core", "gpu", "gui"):
        for module in (ROOT / top).rglob("*.py"):
            there.add(".".join(("gradstep", *module.parent.relative_to(ROOT).parts)))
    packages = listed["tool"]["setuptools"]["packages"]
    assert sorted(there) == sorted(packages)


def test_every_package_names_what_is_in_it() -> None:
    """In backticks: at least one of its modules or names, and nothing that is not there."""
    for package in packages():
        spans = SPAN.findall(docstring(package / "__init__.py"))
        own = [span for span in spans if not span.startswith(_OTHERS)]
        missing = [span for span in own if not is_in(package, span)]
        assert own, f"{package}: names none of its modules"
        assert not missing, f"{package}: {missing}"
        assert len(docstring(package / "__init__.py").splitlines()) <= 8, package


def test_every_first_line_is_a_sentence() -> None:
    """It is all that docs/modules.md shows of a module."""
    for package in packages():
        for module in package.glob("*.py"):
            first, _, rest = docstring(module).partition("\n")
            assert first.endswith((".", "…")), f"{module}: {first}"
            assert not rest or rest.startswith("\n"), f"{module}: a blank line is missing"


def test_no_two_modules_of_core_have_one_name() -> None:
    """A traceback, an import and a search name one place."""
    names = Counter(path.stem for path in (ROOT / "core").rglob("*.py") if path.stem[0] != "_")
    assert [name for name, count in names.items() if count > 1] == []
