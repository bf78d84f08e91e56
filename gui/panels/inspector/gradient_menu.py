"""The menu that chooses an operation's gradient: native, borrowed, or the user's own."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QMenu

from gradstep.core.autodiff.reverse.gradient_request import (
    Override,
    OverrideKind,
    gradient_name,
    native_name,
)
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.required_python import missing_code
from gradstep.core.graph.model import PYTHON_OPS, Operation
from gradstep.core.graph.scopes import parents
from gradstep.core.ops.declare.table import all_ops
from gradstep.gui import commands
from gradstep.gui.actions.action_record import can_branch
from gradstep.gui.actions.dialog_table import PYFUNC, open_dialog
from gradstep.gui.look.plain_text import add_row, plain, without_mnemonic
from gradstep.gui.model.tried_document import tried
from gradstep.gui.model.workspace import Workspace


def gradient_in_force(document: Document, op: Operation) -> tuple[str, bool]:
    """Name of the gradient of `op`, and whether it is another one than its own."""
    name = gradient_name(op, document.request.overrides)
    return name, name != native_name(op)


def fill_gradient_menu(menu: QMenu, workspace: Workspace, op: Operation) -> None:
    """What can be done about the gradient of `op`, as of now."""
    menu.clear()
    name, own = gradient_in_force(workspace.document, op)
    native = menu.addAction("Native gradient")
    native.setCheckable(True)
    native.setChecked(not own)
    native.triggered.connect(lambda: commands.use_native_gradient(workspace, op.name))
    menu.addSeparator()
    _fill(menu, workspace, Override("", op.name, OverrideKind.OP), name if own else "")
    _add_wider(menu, workspace, op)
    _add_branch(menu, workspace, op)
    menu.addSeparator()
    if op.type not in PYTHON_OPS:
        menu.addAction("Replace with Python function…", lambda: _make_python(workspace, op.name))
    for asked in missing_code(workspace.document, [op.name]):
        if asked.name == name:
            row = add_row(menu, f"Write {name}…")
            row.triggered.connect(lambda: workspace.ask_window("code", name))
    menu.addAction("New gradient function…", lambda: _write_gradient(workspace, op.name))
    menu.addSeparator()
    menu.addAction("Check this gradient", lambda: commands.check_node(workspace, op.name))


def _fill(menu: QMenu, workspace: Workspace, place: Override, current: str) -> None:
    """An entry for each function of the document and each built-in gradient, at `place`."""
    functions = _functions(workspace.document)
    for name in functions:
        _add(menu, workspace, place, name, name == current)
    if functions:
        menu.addSeparator()
    _add(menu, workspace, place, "Identity", current == "Identity")
    borrowed = menu.addMenu("Gradient of another op type")
    for name in sorted(_built_in()):
        _add(borrowed, workspace, place, name, name == current)


def _add(menu: QMenu, workspace: Workspace, place: Override, name: str, on: bool) -> None:
    action = add_row(menu, name)
    action.setCheckable(True)
    action.setChecked(on)
    override = Override(name, place.target, place.kind)
    action.triggered.connect(lambda: commands.set_override(workspace, override))


def _add_wider(menu: QMenu, workspace: Workspace, op: Operation) -> None:
    """The same choices for every operation of the type, or in a scope."""
    wider = menu.addMenu("Override more than this node")
    places = [(f"every {op.type}", OverrideKind.TYPE, op.type)]
    places += [(f"all in {scope}/", OverrideKind.SCOPE, scope) for scope in parents(op.name)]
    for title, kind, target in places:
        one = wider.addMenu(without_mnemonic(title))
        one.menuAction().setToolTip(plain(title))
        _fill(one, workspace, Override("", target, kind), "")
    _add_switches(wider, workspace, op)


def _add_branch(menu: QMenu, workspace: Workspace, op: Operation) -> None:
    """The same for this run and those behind it, on a branch."""
    if not can_branch(workspace):
        return
    tries = menu.addMenu("Try on a branch")
    tries.setObjectName("inspector.gradient.branch")
    native = tries.addAction("Native gradient")
    native.triggered.connect(lambda: commands.edit_on_branch(workspace, "native", op.name))
    native.setEnabled(gradient_in_force(tried(workspace), op)[1])
    for name in (*_functions(workspace.document), "Identity"):
        row = add_row(tries, name)
        names = name, op.name, OverrideKind.OP.value
        row.triggered.connect(
            lambda _=False, names=names: commands.edit_on_branch(workspace, "override", *names)
        )


def _add_switches(menu: QMenu, workspace: Workspace, op: Operation) -> None:
    """A check mark for each override that is there and concerns `op`."""
    for index, override in enumerate(workspace.document.request.overrides):
        if override.matches(op):
            what = f"{override.kind.value} {override.target}: {override.gradient}"
            action = add_row(menu, what)
            action.setCheckable(True)
            action.setChecked(override.enabled)
            action.triggered.connect(
                lambda _=False, i=index: commands.toggle_override(workspace, i)
            )


def _functions(document: Document) -> list[str]:
    return [name for name, item in document.code.items() if item.kind is not CodeKind.PYFUNC]


def _built_in() -> Iterator[str]:
    return (d.type for d in all_ops() if d.gradient.rule is not None and d.gradient.differentiable)


def _make_python(workspace: Workspace, name: str) -> None:
    workspace.select([name])
    open_dialog(workspace, PYFUNC)


def _write_gradient(workspace: Workspace, name: str) -> None:
    workspace.select([name])
    workspace.ask_window("gradient")
