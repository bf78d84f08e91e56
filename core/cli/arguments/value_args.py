"""Values on the command line: NAME=VALUE, with numbers, lists, nan and inf, or a NumPy file."""

from __future__ import annotations

import ast
from typing import Any

from gradstep.core.cli.output.command_output import usage
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget

_WORDS = {
    "nan": float("nan"), "NaN": float("nan"), "inf": float("inf"), "Infinity": float("inf"),
    "true": True, "false": False,
}  # fmt: skip

_PLAIN = (int, float, complex, str, bytes)
_SHOWN = 60  # characters of what is no value


def parse_feed(text: str, memory: int = DEFAULT) -> tuple[str, Any]:
    """`"x=[1, nan]"`, `"x=@FILE.npy"` or `"x=@FILE.npz:KEY"` as a name and a value that NumPy can
    make an array of. memory: bytes that a file may take. Raises GradstepError: UsageError for bad
    spelling, FileError for the file."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise usage(f"'{text}' is not NAME=VALUE", "write --feed x=[1,2]")
    return name.strip(), parse_value(value.strip(), memory)


def parse_value(text: str, memory: int = DEFAULT) -> Any:
    """A number, string, truth value or nested list of them (JSON or Python), or @FILE, which may
    take so many bytes of memory."""
    if text.startswith("@"):
        from gradstep.core.cli.arguments.array_files import array_at

        return array_at(text[1:], Budget(memory))
    try:
        return _plain(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise usage(
            f"'{text if len(text) < _SHOWN else text[:_SHOWN] + '…'}' is not a value",
            "write numbers, nan, inf, true, lists in brackets, or @FILE.npy",
        ) from None


def _plain(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN):
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
