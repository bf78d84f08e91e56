"""The examples, that mutants are made of: their members, and what is in their records."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gradstep.core.document.document import Document
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.declare.table import all_ops

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
_SMALL = 26_000  # bytes of an example that most cases start from

Tree = dict[str, Any]
Members = dict[str, bytes]


def packed(members: Members) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name or " "), data)
    return buffer.getvalue()


def unpacked(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@cache
def example(name: str) -> Members:
    return unpacked((EXAMPLES / name).read_bytes())


@cache
def document(name: str) -> Document:
    """That of an example, named without its suffix."""
    return gradstep_file.load(EXAMPLES / f"{name}.gradstep")


@cache
def _names() -> tuple[list[str], list[str]]:
    """Of the examples; of the small ones among them."""
    files = sorted(EXAMPLES.glob("*.gradstep"))
    return [f.name for f in files], [f.name for f in files if f.stat().st_size < _SMALL]


def base(dice: Random) -> str:
    every, small = _names()
    return dice.choice(small if dice.random() < 0.95 else every)


@cache
def op_types() -> list[str]:
    return sorted(definition.type for definition in all_ops())


def operations(tree: Tree) -> list[Tree]:
    """All, those in loops too."""
    found: list[Tree] = []
    waiting = [tree.get("operations")]
    while waiting:
        for op in waiting.pop() or ():
            if isinstance(op, dict):
                found.append(op)
                attrs = op.get("attrs")
                values = attrs.values() if isinstance(attrs, dict) else ()
                waiting += [v.get("operations") for v in values if isinstance(v, dict)]
    return found


def known(tree: Tree) -> list[str]:
    names = [str(op.get("name", "")) for op in operations(tree)]
    return [*names, *(f"{name}:{index}" for name in names[:30] for index in (0, 1))]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a tree: what it is in, and its key or index there."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def items(tree: Tree, key: str) -> list[Tree]:
    found = tree.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
