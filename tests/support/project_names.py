"""Whether what prose calls by name is in this tree: files, folders, modules, classes, functions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.support.code_facts import facts_of

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("core", "gpu", "gui")
SPAN = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"\w+(\.\w+)*")
_FIRST = re.compile(r"^ *(?:async )?(?:def |class )?(\w+)", re.MULTILINE)


def packages() -> list[Path]:
    """Folders of our own code that Python can import, parents first."""
    return sorted(path.parent for top in TOPS for path in (ROOT / top).rglob("__init__.py"))


@cache
def defined(module: Path) -> frozenset[str]:
    """Names of a file's own: classes with their members (`Graph.ancestors`), functions, values."""
    return facts_of(module.read_text(encoding="utf-8")).defined


def defines(module: Path, name: str) -> bool:
    """Whether a file has a name of its own; to see that it has none, few are parsed."""
    return _begins(module, name) and name in defined(module)


def _begins(module: Path, name: str) -> bool:
    return name.rpartition(".")[2] in _first_words(module)


@cache
def _first_words(module: Path) -> frozenset[str]:
    """What its lines begin with, but for `def` and `class`: what is defined there is among it."""
    return frozenset(_FIRST.findall(module.read_text(encoding="utf-8")))


def is_in(package: Path, span: str) -> bool:
    """Whether a package's docstring may say `span`: one of its files, folders or modules, or what
    one of them defines, with arguments or without; or a module by its full name."""
    name = span.partition("(")[0]
    if name.startswith("gradstep."):
        return is_module(name)
    if (package / name).exists() or (package / f"{name}.py").is_file():
        return True
    return any(path.name == name or defines(path, name) for path in package.rglob("*.py"))


def is_module(dotted: str) -> bool:
    """Whether `gradstep.core.graph.model`, or a name that it defines, is there."""
    if not _NAME.fullmatch(dotted):
        return False
    parts = dotted.removeprefix("gradstep.").split(".")
    for count in range(len(parts), 0, -1):
        path, rest = ROOT.joinpath(*parts[:count]), ".".join(parts[count:])
        if path.is_dir() and not rest:
            return True
        module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if module.is_file():
            return not rest or rest in defined(module)
    return False


def is_anywhere(name: str) -> bool:
    """Whether something in the tree is called so: a folder, a file, what a file defines, or a
    member of it (`Graph.ancestors`, and `ancestors` alone)."""
    modules, places = _places()
    return name in places or any(
        defines(path, name) or (_begins(path, name) and name in _members(path)) for path in modules
    )


@cache
def _places() -> tuple[list[Path], frozenset[str]]:
    """All modules, and what they and their folders are called."""
    tops = (*TOPS, "tests")
    modules = [path for top in tops for path in (ROOT / top).rglob("*.py")]
    called = {name for path in modules for name in (path.name, path.stem, path.parent.name)}
    return modules, frozenset({path.name for path in ROOT.iterdir()} | {*tops} | called)


@cache
def _members(module: Path) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in defined(module))
