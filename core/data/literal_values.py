"""Values written out: numbers, words and lists, as people and NumPy write them.

Nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import DType

LONGEST = 1 << 20  # characters that Python's own parser is given
WORDS = {
    "nan": float("nan"), "NaN": float("nan"), "inf": float("inf"), "Infinity": float("inf"),
    "true": True, "false": False,
    "infj": complex(0, float("inf")), "nanj": complex(0, float("nan")),  # as NumPy prints them
}  # fmt: skip

_PLAIN = (bool, int, float, complex, str, bytes)
_WRAPPERS = frozenset({"array", "asarray", "tensor", *(f"{d.value}" for d in DType)})
_TOKEN = re.compile(r"[\[\]()]|[^\s\[\](),]+")
_PADDED = re.compile(r"(?<=[^\s\[\](),j])[ \n]+(?=[-+][^\s\[\](),]*j)")  # NumPy's `1. +2.j`
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse_expression(text: str) -> ast.expr:
    """The text as Python reads it. Raises ValueError."""
    if len(text) > LONGEST:
        raise ValueError("too long")
    try:
        return ast.parse(text, mode="eval").body
    except _UNREADABLE:
        raise ValueError("no expression") from None


def read_literal(text: str) -> Any:
    """A number, string, truth value or nested list of them: JSON, Python, or what NumPy, PyTorch
    and TensorFlow print. Raises ValueError for anything else, GradstepError for a print that
    leaves numbers out."""
    try:
        return _read_json(text)
    except ValueError:
        pass
    try:
        return plain(parse_expression(text))
    except (ValueError, RecursionError):
        return _read_print(text)


def plain(node: ast.expr) -> Any:
    """What an expression says, if it only writes values down. Raises ValueError."""
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.List | ast.Tuple):
        return [plain(item) for item in node.elts]
    if isinstance(node, ast.Name) and node.id in WORDS:
        return WORDS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = plain(node.operand)
        if isinstance(value, int | float | complex):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _complex(node)
    if isinstance(node, ast.Call) and _callee(node) in _WRAPPERS and len(node.args) == 1:
        return plain(node.args[0])
    if isinstance(node, ast.Call) and _callee(node) == "complex":
        return _parts(node)
    raise ValueError("not a plain value")


def _constant(value: object) -> Any:
    if value is ...:
        raise _left_out()
    if isinstance(value, _PLAIN):
        return value
    raise ValueError("not a plain value")


def _complex(node: ast.BinOp) -> complex:
    """`1.5-2j`: a real number and an imaginary one."""
    real, imaginary = plain(node.left), plain(node.right)
    if isinstance(real, int | float) and isinstance(imaginary, complex):
        if isinstance(node.op, ast.Add):
            return complex(real, imaginary.imag)
        if isinstance(node.op, ast.Sub):
            return complex(real, -imaginary.imag)
    raise ValueError("not a plain value")


def _parts(node: ast.Call) -> complex:
    """`complex(nan, 2.0)`: of what Python cannot read as a sum."""
    parts = [plain(part) for part in node.args]
    if len(parts) == 2 and all(isinstance(part, int | float) for part in parts):
        return complex(*parts)
    raise ValueError("not a plain value")


def _callee(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _read_json(text: str) -> Any:
    """Fast for long texts. Raises ValueError."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if isinstance(value, list | int | float):
        return value
    raise ValueError("no list and no number")


def _read_print(text: str) -> Any:
    """`[[1. 2.]\\n [3. 4.]]`: numbers with spaces between them. Raises ValueError."""
    tokens = _TOKEN.findall(_PADDED.sub("", text))
    if "..." in tokens:
        raise _left_out()
    if not tokens or tokens[0] != "[" or len(text) > LONGEST:
        raise ValueError("no print of an array")
    joined = re.sub(r"([\[(]), ", r"\1", ", ".join(tokens))
    joined = re.sub(r", ([\])])", r"\1", joined)
    try:
        return plain(parse_expression(joined))
    except RecursionError:
        raise ValueError("too deep") from None


def _left_out() -> GradstepError:
    return GradstepError(
        "the text is a summary: numbers are left out where it has ...",
        kind=USAGE,
        hint="save the array with np.save and write @FILE.npy, or print it whole: "
        "np.set_printoptions(threshold=np.inf)",
    )
