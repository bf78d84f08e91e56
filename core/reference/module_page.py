"""docs/modules.md: the tree of modules, each package with its docstring, each file with a line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]  # which is the package gradstep, and the repository's root

_INTRODUCTION = """\
# Modules

Every module and what it is for: {count} of them, lower rooms first. This page is written from the \
first lines of the files by `./dev docs`; a test fails where the two differ. \
[architecture.md](architecture.md) says how they work together, [glossary.md](glossary.md) what \
the words mean.
"""
_DOCSTRING = re.compile(r'"""(?:[^"\\]|"(?!""))*"""\n')
_FIRST = ("core", "gpu", "gui")
# The rooms of core from below; what is not listed comes after, by name.
_UPWARD = (
    *("graph", "ops", "autodiff", "layers", "layout", "engine", "debug", "document", "train"),
    *("io", "program", "checks", "protocol", "host", "cli", "reference"),
)


def page() -> str:
    """The page as the files make it."""
    packages = [package for top in _FIRST for package in _packages(ROOT / top)]
    sections = [line for package in packages for line in _section(package)]
    count = sum(len(_modules(package)) for package in packages)
    contents = [_entry(package) for package in packages if len(_parts(package)) <= 2]
    contents.append(f"- [main.py](../main.py): {_docstring(ROOT / 'main.py')[0]}")
    return "\n".join([_INTRODUCTION.format(count=count), *contents, "", *sections])


def _packages(package: Path) -> Iterator[Path]:
    """A package and those in it, parents first."""
    yield package
    inside = (path.parent for path in package.glob("*/__init__.py"))
    for child in sorted(inside, key=_place):
        yield from _packages(child)


def _place(package: Path) -> tuple[int, str]:
    name = package.name
    core = package.parent == ROOT / "core" and name in _UPWARD
    return (_UPWARD.index(name) if core else len(_UPWARD), name)


def _parts(package: Path) -> tuple[str, ...]:
    return package.relative_to(ROOT).parts


def _modules(package: Path) -> list[Path]:
    return sorted(path for path in package.glob("*.py") if path.name != "__init__.py")


def _entry(package: Path) -> str:
    """A line of the contents: a link to the section."""
    parts = _parts(package)
    indent = "  " * (len(parts) - 1)
    return f"{indent}- [{'/'.join(parts)}](#{''.join(parts)}): {_docstring(package)[0]}"


def _section(package: Path) -> Iterator[str]:
    parts = _parts(package)
    yield f"{'#' * min(len(parts) + 1, 4)} {'/'.join(parts)}\n"
    yield "\n\n".join(_docstring(package)) + "\n"
    modules = _modules(package)
    for module in modules:
        target = module.relative_to(ROOT).as_posix()
        yield f"- [`{module.stem}`](../{target}): {_docstring(module)[0]}"
    if modules:
        yield ""


def _docstring(path: Path) -> list[str]:
    """Its paragraphs, each on one line."""
    text = docstring(path / "__init__.py" if path.is_dir() else path)
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def docstring(file: Path) -> str:
    """That of a module, or "". Where a file begins with one, no more of it is parsed."""
    text = file.read_text(encoding="utf-8")
    first = _DOCSTRING.match(text)
    return ast.get_docstring(ast.parse(first[0] if first else text)) or ""
