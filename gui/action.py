"""What one row of the action table says, and the conditions that rows are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QKeySequence

from core.autodiff.request import gradient_name, native_name
from core.graph.model import Operation
from core.io.asked_code import missing_code
from core.io.requests import every_request
from gui.workspace import Workspace

Test = Callable[[Workspace], bool]
Run = Callable[[Workspace], None]

VALUED = ("Placeholder", "VariableV2", "VarHandleOp", "Const")


def always(workspace: Workspace) -> bool:
    return True


def is_open(workspace: Workspace) -> bool:
    return workspace.is_open


@dataclass(frozen=True)
class Action:
    """One row.

    id: "menu.name"; keys: shortcuts as Qt spells them, the first one is shown; tip: one sentence.
    menu, section: where it stands; sections are set apart by a line. "" is in no menu.
    icon: name of a drawing in assets/icons. toolbar: whether it is a button there.
    canvas: its keys work while the canvas has the focus, because other widgets mean them, too.
    checked: for what is on or off, whether it is on.
    """

    id: str
    title: str
    run: Run
    tip: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    enabled: Test = is_open
    menu: str = ""
    section: int = 0
    toolbar: bool = False
    canvas: bool = False
    checked: Test | None = None

    @property
    def shortcut(self) -> str:
        """The first key as people read it; "" without one."""
        return shown_key(self.keys[0]) if self.keys else ""


def shown_key(key: str) -> str:
    """A key as people read it on this system."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def can_undo(workspace: Workspace) -> bool:
    return workspace.undo_stack.canUndo()


def can_redo(workspace: Workspace) -> bool:
    return workspace.undo_stack.canRedo()


def is_dirty(workspace: Workspace) -> bool:
    """Whether there are edits that would be lost."""
    return workspace.is_open and not workspace.undo_stack.isClean()


def can_save(workspace: Workspace) -> bool:
    return is_dirty(workspace) or (workspace.is_open and workspace.path is None)


def has_code(workspace: Workspace) -> bool:
    """Whether there is Python to edit, or to write because the graph asks for it."""
    return bool(workspace.document.code or missing_code(workspace.document))


def is_busy(workspace: Workspace) -> bool:
    return workspace.engine_state == "busy"


def has_scopes(workspace: Workspace) -> bool:
    return "/" in "".join(workspace.document.graph.operations)  # asked after every step


def any_selected(workspace: Workspace) -> bool:
    return bool(workspace.selection)


def selected_operation(workspace: Workspace) -> Operation | None:
    """The one selected operation, in a loop perhaps; None for none, several or a derived one."""
    graph = workspace.shown
    if len(workspace.selection) != 1 or workspace.selection[0] not in graph:
        return None
    return graph[workspace.selection[0]]


def one_selected(workspace: Workspace) -> bool:
    return selected_operation(workspace) is not None


def one_with_inputs(workspace: Workspace) -> bool:
    op = selected_operation(workspace)
    return op is not None and bool(op.inputs)


def one_with_value(workspace: Workspace) -> bool:
    """Whether the selected operation's value is the user's to give."""
    op = selected_operation(workspace)
    return op is not None and op.type in VALUED


def one_overridden(workspace: Workspace) -> bool:
    op = selected_operation(workspace)
    overrides = workspace.document.request.overrides
    return op is not None and gradient_name(op, overrides) != native_name(op)


def wire_or_node_selected(workspace: Workspace) -> bool:
    return workspace.selected_edge is not None or any_selected(workspace)


def can_stop_gradient(workspace: Workspace) -> bool:
    """Whether a wire is selected, or a node that wires lead to."""
    graph = workspace.shown
    selected = [graph[name] for name in workspace.selection if name in graph]
    return workspace.selected_edge is not None or any(
        ref is not None for op in selected for ref in op.inputs
    )


def has_request(workspace: Workspace) -> bool:
    return bool(every_request(workspace.document))


def can_measure(workspace: Workspace) -> bool:
    """Whether there are runs to measure, and none is being measured."""
    return workspace.program is not None and not workspace.profiler.busy


def has_one_optimizer(workspace: Workspace) -> bool:
    """Whether choosing another one would lose no more than one."""
    return workspace.is_open and len(workspace.document.optimizers) < 2


def optimizer_is(type: str) -> Test:
    """Whether the document's one optimizer is of `type`; "" for none."""

    def test(workspace: Workspace) -> bool:
        types = [optimizer.type for optimizer in workspace.document.optimizers]
        return workspace.is_open and types == ([type] if type else [])

    return test


def legal(command: str) -> Test:
    """Whether the debugger takes `command` now."""

    def test(workspace: Workspace) -> bool:
        stop = workspace.stop
        return stop is not None and workspace.engine_state == "ready" and command in stop.legal

    return test


def controls(command: str) -> Run:
    return lambda workspace: workspace.control(command)


def window(what: str, target: str = "") -> Run:
    """Something that only the window can do; see MainWindow."""
    return lambda workspace: workspace.view_requested.emit(what, target)
