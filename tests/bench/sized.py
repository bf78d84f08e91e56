"""Asking for measurements by size of the graph: what they are called with, and their answer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any


def parser_of(
    program: str, description: str | None, sizes: Sequence[int], shapes: Collection[str] = ()
) -> argparse.ArgumentParser:
    """Of `python -m program [SHAPE…] [--sizes N,N] [--json]`; shapes: those that there are, of
    which none named means all."""

    def shape(name: str) -> str:
        if name not in shapes:
            raise argparse.ArgumentTypeError(
                f"no shape '{name}'; the shapes are {', '.join(shapes)}"
            )
        return name

    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    if shapes:
        parser.add_argument(
            "shapes", nargs="*", type=shape, metavar="SHAPE", help=", ".join(shapes)
        )
    parser.add_argument("--sizes", type=_numbers, default=[*sizes], help="operations")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def row_of(name: str, value: float, target: float | None) -> dict[str, Any]:
    """A measurement by itself; whether it meets its target, if it has one."""
    met = None if target is None else value <= target
    return {"name": name, "value": value, "target": target, "met": met}


def answer(is_json: bool, data: object, tables: Iterable[tuple[str, str]]) -> int:
    """Write `data` as JSON, or the tables under their titles. Returns the exit status."""
    text = json.dumps(data) if is_json else "\n\n".join(f"{a}\n{b}" for a, b in tables)
    sys.stdout.write(f"{text}\n")
    return 0
