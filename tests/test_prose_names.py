"""What the documentation calls by name is in this tree: paths, links, modules, functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.project_names import ROOT, SPAN, TOPS, defined, is_anywhere, is_module

PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# Guides name files that their reader makes.
TRUE_NOW = [page for page in PAGES if not page.name.startswith("adding-")]
CLOSELY_READ = [ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md"]
_PATH = re.compile(r"(?<![\w/.-])(?:core|gpu|gui|tests|docs|assets)/[\w./*-]*[\w*]")
_MODULE = re.compile(r"\b(?:gradstep\.(?:core|gui|gpu)|tests)(?:\.(?!__)\w+)+")
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s#]+)[^)\s]*\)")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_OTHERS = {"c", "xvfb", "cuda13"}  # no names of ours: a node, a marker of pytest, an extra


def is_path(path: str) -> bool:
    """A file or folder; a module without its suffix; several, with a star."""
    return any(ROOT.glob(path)) or (ROOT / f"{path}.py").is_file()


def by_name(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", TRUE_NOW, ids=by_name)
def test_paths_and_modules_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [path for path in _PATH.findall(_LINK.sub(r"\1", text)) if not is_path(path)]
    missing += [name for name in _MODULE.findall(text) if not is_module(name)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_links_lead_to_what_they_name(page: Path) -> None:
    """A link's text in backticks is the file's own name, or what the file defines."""
    wrong = []
    for text, target in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path = (page.parent / target).resolve()
        name = text.strip("`")
        if not path.exists():
            wrong.append(target)
        elif text.startswith("`") and path.suffix == ".py" and name != path.stem:
            wrong += [] if name in defined(path) else [f"{name} in {target}"]
    assert not wrong


@pytest.mark.parametrize("page", CLOSELY_READ, ids=by_name)
@pytest.mark.slow
def test_names_in_backticks_are_there(page: Path) -> None:
    spans = {span.partition("(")[0] for span in SPAN.findall(page.read_text(encoding="utf-8"))}
    names = {span for span in spans if _CODE.fullmatch(span)} - _OTHERS
    assert names
    assert sorted(name for name in names if not is_anywhere(name)) == []


@pytest.mark.slow
def test_modules_named_in_our_code_are_there() -> None:
    """In comments, docstrings and strings, by their full names."""
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for top in TOPS
        for path in (ROOT / top).rglob("*.py")
        for name in _MODULE.findall(path.read_text(encoding="utf-8"))
        if not is_module(name)
    ]
    assert not missing
