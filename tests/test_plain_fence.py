"""Where Qt guesses whether a text is HTML, it gets it through gradstep.gui.look.plain_text: held
over the sources, and every rule is seen to catch what it is for. tests/gui/test_hostile_texts.py
opens a window."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOME = "plain_text.py"
GUESSED = {
    "addRow",
    "setToolTip",
    "setStatusTip",
    "setWhatsThis",
    "setInformativeText",
    "setDetailedText",
}
MARKUP = {"setHtml", "insertHtml", "appendHtml", "setMarkdown", "insertMarkdown", "toHtml"}
FORMATS = {"RichText", "AutoText", "MarkdownText", "ToolTipRole"}
GUESSING = {"QLabel", "QMessageBox", "QErrorMessage", "QTextBrowser", "QStaticText"}
_NAMED = re.compile("|".join(GUESSED | MARKUP | FORMATS | GUESSING | {"QToolTip"}))
# What may be used beside gradstep.gui.look.plain_text, and why that is safe.
ALLOWED = {
    # Notes: Markdown without HTML, dressed anew fragment by fragment.
    "gui/panels/widgets/markdown_text.py": {"QLabel", "setMarkdown", "toHtml", "RichText"},
    "gui/canvas/paint/text_cache.py": {"QStaticText"},  # whose format is set to plain text
}


def breaches(source: str, allowed: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """What of a module shows a text whose format Qt guesses: its line, and the name."""
    if not _NAMED.search(source):
        return []
    return [
        f"{node.lineno}: {name}" for node, name in _found(ast.parse(source)) if name not in allowed
    ]


def _found(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    held = set(_plain_roles(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.ClassDef):
            yield from ((b, b.id) for b in node.bases if _name(b) in GUESSING)
        elif _name(node) in FORMATS and node not in held:
            yield node, _name(node)


def _of_call(call: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    name, on = _name(call.func), _name(getattr(call.func, "value", None))
    if name in MARKUP or (name in GUESSING and not on) or (on == "QToolTip" and name == "showText"):
        yield call, name
    elif on == "QMessageBox":  # information, warning, critical, question, about
        yield call, on
    elif name in GUESSED and not (call.args and _is_safe(call.args[0])):
        yield call, name


def _is_safe(text: ast.expr) -> bool:
    """Words of our own, which have no markup, or what went through `plain`."""
    if isinstance(text, ast.Constant):
        return isinstance(text.value, str) and "<" not in text.value
    if not isinstance(text, ast.Call) or not text.args:
        return False
    name = _name(text.func)
    return name == "plain" or (name == "tr" and _is_safe(text.args[0]))


def _plain_roles(tree: ast.Module) -> Iterator[ast.expr]:
    """Mentions of the tool tip's role that are answered through `plain`: `if role == ToolTipRole:
    return plain(…)`, and `ToolTipRole: lambda …: plain(…)`, each with `or None`, perhaps."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.Return):
            if _is_plain(node.body[0].value):
                yield from (n for n in ast.walk(node.test) if isinstance(n, ast.Attribute))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None and isinstance(value, ast.Lambda) and _is_plain(value.body):
                    yield key


def _is_plain(value: ast.expr | None) -> bool:
    first = value.values[0] if isinstance(value, ast.BoolOp) else value
    return isinstance(first, ast.Call) and _name(first.func) == "plain"


def _name(node: object) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.slow
def test_no_text_is_given_to_qt_to_guess_its_format() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{breach}"
        for path in sorted((ROOT / "gui").rglob("*.py"))
        if path.name != HOME
        for breach in breaches(
            path.read_text(encoding="utf-8"),
            ALLOWED.get(path.relative_to(ROOT).as_posix(), frozenset()),
        )
    ]
    assert not found, "see gui/look/plain_text.py"


@pytest.mark.parametrize(
    "planted",
    [
        "label = QLabel(name)",
        "label = QtWidgets.QLabel",  # mentioned only: to find labels, or for a type
        "class Shown(QLabel): pass",
        "box = QMessageBox(window)",
        "QMessageBox.warning(window, 'title', name)",
        "widget.setToolTip(name)",
        "widget.setToolTip(f'{name} waits')",
        "widget.setToolTip('<b>ours</b>')",
        "widget.setToolTip(self.tr(name))",
        "widget.setToolTip(self.tr('axis {}').format(name))",
        "widget.setWhatsThis(name)",
        "action.setStatusTip(name)",
        "QToolTip.showText(at, name, widget)",
        "form.addRow(name, field)",
        "view.setHtml(name)",
        "view.setMarkdown(name)",
        "label.setTextFormat(Qt.TextFormat.AutoText)",
        "item.setData(Qt.ItemDataRole.ToolTipRole, name)",
        "ROLES = {Qt.ItemDataRole.ToolTipRole: lambda cell: cell.text}",
        "def data(role):\n    if role == Qt.ItemDataRole.ToolTipRole:\n        return row.tip",
    ],
)
def test_each_rule_catches_what_it_is_for(planted: str) -> None:
    mention = planted.endswith("QtWidgets.QLabel")
    assert bool(breaches(planted)) is not mention


def test_what_goes_through_plain_is_no_breach() -> None:
    assert not breaches(
        "widget.setToolTip(plain(f'{name} waits'))\n"
        "widget.setToolTip(self.tr('Elements'))\n"
        "widget.setToolTip('')\n"
        "ROLES = {Qt.ItemDataRole.ToolTipRole: lambda cell: plain(cell.text) or None}\n"
        "def data(role):\n    if role == Qt.ItemDataRole.ToolTipRole:\n        return plain(tip)\n"
    )
