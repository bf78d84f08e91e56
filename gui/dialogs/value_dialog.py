"""Typing the value that is fed to a placeholder, or that a variable or constant has."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Constant, Operation
from gradstep.gui import commands
from gradstep.gui.dialogs.code_view import CodeView
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import mono
from gradstep.gui.model.workspace import Workspace

SHOWN = 4096  # elements; larger values are replaced, not edited


class ValueDialog(Dialog):
    """`[1, 2]`, `1e-3`, `nan`: checked against dtype and shape while it is typed. A number alone
    is that for every element, where the shape is known."""

    def __init__(self, workspace: Workspace, op: Operation, parent: QWidget | None = None) -> None:
        words = {"Placeholder": "Fed to", "Const": "Value of"}.get(op.type, "Initial value of")
        super().__init__(workspace, "value_dialog", f"{words} {op.name}", parent)
        self._op = op
        self._type = declared_type(workspace, op)
        kind = self.add_text(str(self._type), "muted")
        kind.setFont(mono())
        shown = _shown(current_value(workspace, op))
        self.text = CodeView(workspace.theme, shown, "value_dialog.text")
        self.text.setAccessibleName(f"{words} {op.name}")
        self.column.addWidget(self.text, 1)
        self._fits = Label()
        self._fits.setObjectName("value_dialog.fits")
        self.column.addWidget(self._fits)
        self._apply = self.add_buttons("Apply")
        self.text.textChanged.connect(self._check)
        self.resize(440, 260)
        self._check()
        self.text.selectAll()

    def apply(self) -> str:
        array, wrong = parse_value(self.text.toPlainText(), self._type)
        if array is None:
            return wrong
        if self._op.type == "Placeholder":
            commands.set_feed(self.workspace, f"{self._op.name}:0", array)
        elif self._op.type == "Const":
            commands.set_attr(self.workspace, self._op.name, "value", Constant(array))
        else:
            commands.set_initial(self.workspace, self._op.name, array)
        return ""

    def _check(self) -> None:
        array, wrong = parse_value(self.text.toPlainText(), self._type)
        self._fits.setText(wrong if array is None else f"✓ shape {Shape(array.shape)}")
        self._color(self._fits, "problem" if array is None else "muted")
        self._apply.setEnabled(array is not None)


def declared_type(workspace: Workspace, op: Operation) -> TensorType:
    """Element type and shape that a value for `op` must have."""
    dtype = op.attrs.get("dtype", DType.FLOAT32)
    shape = Shape(None) if op.type == "Const" else op.attrs.get("shape", Shape(None))
    return TensorType(dtype, shape)


def current_value(workspace: Workspace, op: Operation) -> np.ndarray[Any, Any] | None:
    """The value in the document; None when there is none."""
    document = workspace.document
    if op.type == "Placeholder":
        found = document.feeds.get(f"{op.name}:0")
    elif op.type == "Const":
        found = op.attrs.get("value")
    else:
        found = document.initial.get(op.name)
    return found.array if isinstance(found, Constant) else None


def parse_value(text: str, kind: TensorType) -> tuple[np.ndarray[Any, Any] | None, str]:
    """`text` as an array of `kind`; or None, and what is wrong."""
    try:
        literal = _literal(ast.parse(text.strip() or "None", mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, "write a number or nested lists of them, such as [1, 2] or [[0.5], [nan]]"
    try:
        wide = np.array(literal)
    except ValueError:
        return None, "the rows differ in length"
    if wide.dtype.kind not in _ACCEPTED.get(kind.dtype.numpy.kind, "biufcSUO"):
        return None, f"{kind.dtype.value} cannot hold {literal!r:.40}"
    try:
        array = wide.astype(kind.dtype.numpy)
    except (ValueError, TypeError, OverflowError):
        return None, f"{kind.dtype.value} cannot hold {literal!r:.40}"
    if wide.dtype.kind in "iu" and array.dtype.kind in "iu" and not np.array_equal(wide, array):
        return None, f"a number is out of range for {kind.dtype.value}"
    if not array.ndim and kind.shape.is_static:
        array = np.full(kind.shape.static(), array)  # one number for every element
    if not kind.shape.accepts(array.shape):
        return None, f"shape {Shape(array.shape)} does not fit {kind.shape}"
    return array, ""


_ACCEPTED = {"f": "biuf", "c": "biufc", "i": "iu", "u": "iu", "b": "b"}
_NAMES = {"nan": float("nan"), "inf": float("inf"), "NaN": float("nan"), "Infinity": float("inf"),
          "true": True, "false": False}  # fmt: skip


def _literal(node: ast.expr) -> Any:
    """Numbers, strings, lists and the words nan and inf; nothing is ever evaluated."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex | str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(element) for element in node.elts]
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _literal(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    raise ValueError("not a literal")


def _shown(array: np.ndarray[Any, Any] | None) -> str:
    if array is None or array.size > SHOWN:
        return ""
    with np.printoptions(threshold=SHOWN, floatmode="unique"):
        return np.array2string(array, separator=", ")
