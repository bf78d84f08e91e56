"""What one row of the action table says, and the conditions that rows are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, overload

from PySide6.QtGui import QKeySequence

from gradstep.core.autodiff.reverse.gradient_request import gradient_name, native_name
from gradstep.core.document.requests import every_request
from gradstep.core.document.required_python import missing_code
from gradstep.core.document.retyping import has_others
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.gui.model.selection import selected_scope, selected_unit
from gradstep.gui.model.window_requests import ShownPanel, WindowRequest
from gradstep.gui.model.workspace import Workspace

Test = Callable[[Workspace], bool]
Run = Callable[[Workspace], object]

NOTHING = "there is nothing to run yet"
NOT_READY = "the engine is not ready: a run is under way, or it has stopped"
VALUED = VARIABLES | {"Placeholder", "Const"}


@dataclass(frozen=True, eq=False)  # looked up at each refresh: by what it is, not by what it holds
class Condition:
    """Whether something can be done now. need: what to do first where it cannot, or why not."""

    holds: Test
    need: str | Callable[[Workspace], str]

    def __call__(self, workspace: Workspace) -> bool:
        return self.holds(workspace)

    def obstacle(self, workspace: Workspace) -> str:
        """What to do first; "" when nothing is in the way."""
        if self.holds(workspace):
            return ""
        if not workspace.is_open:
            return "open a document first"
        return self.need if isinstance(self.need, str) else self.need(workspace)


def needs(need: str | Callable[[Workspace], str]) -> Callable[[Test], Condition]:
    """Make a test a condition."""
    return lambda holds: Condition(holds, need)


@needs("")
def always(workspace: Workspace) -> bool:
    return True


@needs("open a document first")
def is_open(workspace: Workspace) -> bool:
    return workspace.is_open


@dataclass(frozen=True)
class Action:
    """One row.

    id: "menu.name"; keys: shortcuts as Qt spells them, the first one is shown; tip: one sentence.
    menu, section: where it stands; sections are set apart by a line. "" is in no menu.
    icon: name of a drawing in assets/icons. toolbar: whether it is a button there.
    enabled: whether it can be done, and what it needs where it cannot.
    canvas: its keys are the canvas's, because other widgets mean them, too.
    checked: for what is on or off, whether it is on.
    """

    id: str
    title: str
    run: Run
    tip: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    enabled: Condition = is_open
    menu: str = ""
    section: int = 0
    toolbar: bool = False
    canvas: bool = False
    checked: Test | None = None

    def obstacle(self, workspace: Workspace) -> str:
        """Why it cannot be done now, and what to do first; "" where it can."""
        need = self.enabled.obstacle(workspace)
        return need and f"{self.title.rstrip('…')}: {need}"

    @property
    def shortcut(self) -> str:
        """The first key as people read it; "" without one."""
        return shown_key(self.keys[0]) if self.keys else ""


def shown_key(key: str) -> str:
    """A key as people read it on this system."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


@needs("there is no edit to take back")
def can_undo(workspace: Workspace) -> bool:
    return workspace.undo_stack.canUndo()


@needs("no edit was taken back")
def can_redo(workspace: Workspace) -> bool:
    return workspace.undo_stack.canRedo()


@needs("all edits are saved")
def can_save(workspace: Workspace) -> bool:
    """Whether the file would change: also by what is no work, as breakpoints are."""
    as_saved = workspace.path is not None and workspace.document is workspace.on_disk
    return workspace.is_open and (workspace.is_changed or not as_saved)


@needs("the document has no Python functions")
def has_code(workspace: Workspace) -> bool:
    """Whether there is Python to edit, or to write because the graph asks for it."""
    return bool(workspace.document.code or missing_code(workspace.document))


@needs("no run is under way")
def is_busy(workspace: Workspace) -> bool:
    return workspace.engine_state == "busy" or workspace.training.busy


@needs("no operation is in a scope")
def has_scopes(workspace: Workspace) -> bool:
    return any("/" in name for name in workspace.document.graph.operations)


@needs("ask why a value or a gradient is as it is: the last answer names no edit")
def has_edits_to_try(workspace: Workspace) -> bool:
    """Whether the last answer to a why names edits that may mend it."""
    said = workspace.whys.said
    return said is not None and bool(said.found.remedies)


@needs("ask why a value or a gradient is NaN, infinite, zero or None")
def has_something_to_show(workspace: Workspace) -> bool:
    """Whether the last answer to a why is of something that a smaller graph can show."""
    said = workspace.whys.said
    return said is not None and said.shows


@needs("the run that is looked at holds no NaN and no infinity")
def is_broken(workspace: Workspace) -> bool:
    """Whether the run that is looked at holds NaN or infinity."""
    return workspace.soundness.first is not None


@needs("select a node first")
def any_selected(workspace: Workspace) -> bool:
    return bool(workspace.selection)


@needs("select at least two nodes first")
def several_selected(workspace: Workspace) -> bool:
    return len(workspace.selection) > 1


@needs("select one node with two inputs first")
def one_with_two_inputs(workspace: Workspace) -> bool:
    op = selected_operation(workspace)
    return op is not None and len(op.inputs) > 1


@needs("select one node first, which has no value, loop or Python of its own")
def one_of_other_types(workspace: Workspace) -> bool:
    """Whether the selected node could be of another type."""
    op = selected_operation(workspace)
    return op is not None and has_others(op)


@needs("select a node in a scope first")
def scope_selected(workspace: Workspace) -> bool:
    """Whether something that is selected is in a scope, or is one."""
    return any("/" in name for name in workspace.selection)


@needs("select a scope, or nodes that are in one, first")
def one_scope_selected(workspace: Workspace) -> bool:
    return bool(selected_scope(workspace))


def selected_operation(workspace: Workspace) -> Operation | None:
    """The one selected operation, in a loop perhaps; None for none, several or a derived one."""
    graph = workspace.shown
    if len(workspace.selection) != 1 or workspace.selection[0] not in graph:
        return None
    return graph[workspace.selection[0]]


@needs("select one node, and differentiate something (Graph > Differentiate)")
def one_differentiated(workspace: Workspace) -> bool:
    return one_selected(workspace) and has_request(workspace)


@needs("select a wire first")
def wire_selected(workspace: Workspace) -> bool:
    return workspace.selected_edge is not None


@needs("select one node, or one scope, first")
def unit_selected(workspace: Workspace) -> bool:
    return bool(selected_unit(workspace))


@needs("the document has no Python")
def has_python(workspace: Workspace) -> bool:
    return bool(workspace.document.code)


@needs(lambda workspace: NOTHING if workspace.stop is None else "the run is at its end")
def has_next_step(workspace: Workspace) -> bool:
    """Whether the debugger stands before a step."""
    return workspace.stop is not None and workspace.stop.reason != "end"


@needs("select one node first")
def one_selected(workspace: Workspace) -> bool:
    return selected_operation(workspace) is not None


@needs("select one node with inputs first")
def one_with_inputs(workspace: Workspace) -> bool:
    op = selected_operation(workspace)
    return op is not None and bool(op.inputs)


@needs("select a placeholder, a variable or a constant first")
def one_with_value(workspace: Workspace) -> bool:
    """Whether the selected operation's value is the user's to give."""
    op = selected_operation(workspace)
    return op is not None and op.type in VALUED


@needs("select a variable, or a node that has a value, first")
def one_value_here(workspace: Workspace) -> bool:
    """Whether what is selected can be given another value where the debugger stands."""
    op = selected_operation(workspace)
    if op is None or workspace.stop is None:
        return False
    known = workspace.value(f"{op.name}:0")
    return op.type in VARIABLES or (known is not None and known.state == "known")


def can_branch(workspace: Workspace) -> bool:
    """Whether a branch with an edit can leave where the debugger stands."""
    return workspace.stop is not None


@needs("nothing in this program draws random numbers")
def can_reseed(workspace: Workspace) -> bool:
    """Whether other random numbers could be drawn where the debugger stands."""
    stop = workspace.stop
    if stop is None:
        return False
    from gradstep.core.ops.declare.table import find  # which the first paint need not wait for

    kinds = map(find, workspace.shown.by_type)
    return any(kind is not None and kind.state.counter for kind in kinds)


@needs("select a node whose gradient is overridden first")
def one_overridden(workspace: Workspace) -> bool:
    op = selected_operation(workspace)
    overrides = workspace.document.request.overrides
    return op is not None and gradient_name(op, overrides) != native_name(op)


@needs("select a node or a wire first")
def wire_or_node_selected(workspace: Workspace) -> bool:
    return workspace.selected_edge is not None or any_selected(workspace)


@needs("select a wire, or a node that wires lead to")
def can_stop_gradient(workspace: Workspace) -> bool:
    """Whether a wire is selected, or a node that wires lead to."""
    graph = workspace.shown
    selected = [graph[name] for name in workspace.selection if name in graph]
    return workspace.selected_edge is not None or any(
        ref is not None for op in selected for ref in op.inputs
    )


@needs("select a wire or a node first")
def can_try_stop(workspace: Workspace) -> bool:
    """Whether a gradient could be stopped on a branch that leaves where the debugger stands."""
    chosen = workspace.selected_edge is not None or len(workspace.selection) == 1
    return chosen and can_branch(workspace)


@needs("choose of what to differentiate first (Graph > Differentiate)")
def has_request(workspace: Workspace) -> bool:
    return bool(every_request(workspace.document))


def _why_not_measured(workspace: Workspace) -> str:
    return "a measurement is under way" if workspace.profiler.busy else NOTHING


@needs(_why_not_measured)
def can_measure(workspace: Workspace) -> bool:
    """Whether there are runs to measure, and none is being measured."""
    return workspace.program is not None and not workspace.profiler.busy


def _why_not_trained(workspace: Workspace) -> str:
    if workspace.engine_state != "ready":
        return NOT_READY
    if workspace.program is None or not workspace.program.steps:
        return NOTHING
    if workspace.document.optimizers:
        return "no run gets as far as an update: mend what its loss waits for (see Problems)"
    return "no run updates a variable: give the document an optimizer (Graph > Optimizers)"


@needs(_why_not_trained)
def can_train(workspace: Workspace) -> bool:
    """Whether a run would change a variable, and can be made now."""
    return workspace.engine_state == "ready" and workspace.debugger.index.updates


def _why_no_values(workspace: Workspace) -> str:
    if not _has_variables(workspace):
        return "the document has no variables"
    return NOTHING if workspace.engine_state == "ready" else NOT_READY


@needs(_why_no_values)
def can_keep_values(workspace: Workspace) -> bool:
    """Whether variables hold something where the debugger stands, which can be asked for now."""
    is_ready = workspace.engine_state == "ready" and workspace.stop is not None
    return is_ready and _has_variables(workspace)


def _has_variables(workspace: Workspace) -> bool:
    return not VARIABLES.isdisjoint(workspace.document.graph.by_type)


@needs("there are several optimizers: choose in Graph > Optimizers")
def has_one_optimizer(workspace: Workspace) -> bool:
    """Whether choosing another one would lose no more than one."""
    return workspace.is_open and len(workspace.document.optimizers) < 2


def optimizer_is(type: str) -> Test:
    """Whether the document's one optimizer is of `type`; "" for none."""

    def test(workspace: Workspace) -> bool:
        types = [optimizer.type for optimizer in workspace.document.optimizers]
        return workspace.is_open and types == ([type] if type else [])

    return test


def both(first: Condition, second: Condition) -> Condition:
    """Whether two conditions hold; what is in the way of the first is said first."""
    return Condition(
        lambda workspace: first(workspace) and second(workspace),
        lambda workspace: first.obstacle(workspace) or second.obstacle(workspace),
    )


@overload
def window(what: Literal["show"], target: ShownPanel) -> Run: ...
@overload
def window(what: WindowRequest, target: str = "") -> Run: ...
def window(what: WindowRequest | Literal["show"], target: str = "") -> Run:
    """Something that only the window can do; see gradstep.gui.model.window_requests."""
    return lambda workspace: workspace.view_requested.emit(what, target)
