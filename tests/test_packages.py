"""The list of packages that an installation holds is the tree's."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_package_is_installed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    there = {"gradstep", "gradstep.assets"}
    for top, kind in (("core", "*.py"), ("gpu", "*.py"), ("gui", "*.py"), ("assets", "*.*")):
        for file in (ROOT / top).rglob(kind):
            there.add(".".join(("gradstep", *file.parent.relative_to(ROOT).parts)))
    packages = listed["tool"]["setuptools"]["packages"]
    assert sorted(there) == sorted(packages)


def test_every_package_says_what_lives_there() -> None:
    for top in ("core", "gpu", "gui"):
        for module in (ROOT / top).rglob("*.py"):
            first = module.parent / "__init__.py"
            assert first.read_text(encoding="utf-8").startswith('"""'), first
