"""Values on the command line: NAME=VALUE, with numbers, lists, nan and inf, or a NumPy file."""

from __future__ import annotations

import ast
import io
import zipfile
from typing import Any, NoReturn

import numpy as np

from core.cli.output import USAGE
from core.errors import GradstepError

_WORDS = {
    "nan": float("nan"), "NaN": float("nan"), "inf": float("inf"), "Infinity": float("inf"),
    "true": True, "false": False,
}  # fmt: skip

_PLAIN = (int, float, complex, str, bytes)


def parse_feed(text: str) -> tuple[str, Any]:
    """`"x=[1, nan]"`, `"x=@FILE.npy"` or `"x=@FILE.npz:KEY"` as a name and a value that NumPy can
    make an array of. Raises GradstepError: UsageError for bad spelling, FileError for the file."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise usage(f"'{text}' is not NAME=VALUE", "write --feed x=[1,2]")
    return name.strip(), parse_value(value.strip())


def parse_value(text: str) -> Any:
    """A number, string, truth value or nested list of them (JSON or Python), or @FILE."""
    if text.startswith("@"):
        return _from_file(text[1:])
    try:
        return _plain(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise usage(
            f"'{text}' is not a value",
            "write numbers, nan, inf, true, lists in brackets, or @FILE.npy",
        ) from None


def usage(message: str, hint: str = "") -> GradstepError:
    """An error of the command line itself."""
    return GradstepError(message, kind=USAGE, hint=hint)


def _plain(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(
        node.value, int | float | complex | str | bytes
    ):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_plain(item) for item in node.elts]
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _plain(node.operand)
        if isinstance(value, int | float | complex):
            return -value if isinstance(node.op, ast.USub) else value
    raise ValueError("not a plain value")


def _from_file(place: str) -> np.ndarray:
    from core.io import npy
    from core.io.open import read_file

    path, colon, key = place.rpartition(":")
    if not colon or not path.endswith(".npz"):
        data = read_file(place)
        if data[:2] == b"PK":
            _no_key(place, data)
        return npy.read(io.BytesIO(data), len(data), place)
    return _member(path, key, read_file(path))


def _member(path: str, key: str, data: bytes) -> np.ndarray:
    from core.io.archive import Archive

    archive = Archive(data)
    if f"{key}.npy" not in archive:
        raise GradstepError(
            f"{path} has no array named '{key}'",
            kind="FileError",
            hint=f"it has {', '.join(_keys(data))}",
        )
    return archive.tensor(f"{key}.npy")


def _no_key(path: str, data: bytes) -> NoReturn:
    keys = _keys(data)
    raise usage(f"{path} holds several arrays", f"write @{path}:{keys[0] if keys else 'KEY'}")


def _keys(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]
