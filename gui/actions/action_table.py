"""The one table of actions: menus, toolbar, command palette and shortcut page are made from it.

The rows that open a dialog are in gradstep.gui.actions.dialog_table, with the dialog.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gradstep.core.document.document import Optimizer
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui import commands
from gradstep.gui.actions import action_record as when
from gradstep.gui.actions.action_record import Action, Run, Test, window
from gradstep.gui.actions.dialog_table import DIALOGS, FOLLOWED, open_dialog, with_dialogs
from gradstep.gui.actions.move_actions import move_actions
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace


def _theme_is(choice: str) -> Test:
    return lambda workspace: settings().theme == choice


def _theme(choice: str) -> Run:
    return lambda workspace: commands.set_theme(workspace, choice)


def _optimizer(type: str, **hyper: float) -> Run:
    chosen = [Optimizer(type, MappingProxyType(hyper))] if type else []
    return lambda workspace: commands.set_optimizers(workspace, chosen)


def _colours_by(what: str) -> Test:
    return lambda workspace: workspace.profiler.colouring == what


def _colour_by(what: str) -> Run:
    return lambda workspace: commands.colour_by(workspace, what)


def _follow_training(workspace: Workspace) -> None:
    commands.find_training(workspace, lambda: open_dialog(workspace, FOLLOWED))


def _open_tutorial(workspace: Workspace) -> None:
    if workspace.is_open:
        workspace.ask_window("example", "tutorial")
    else:
        commands.open_path(workspace, EXAMPLES / "tutorial.gradstep")


def _toggle_motion(workspace: Workspace) -> None:
    settings().motion = not settings().motion


FILE = (
    Action("file.new", "New", window("new"), "Start an empty graph", ("Ctrl+N",), "new",
           when.always, "File", 0),
    Action("file.new_window", "New window", window("new_window"),
           "Another window for another graph, with sessions of its own", ("Ctrl+Alt+N",), "",
           when.always, "File", 0),
    Action("file.open", "Open…", window("open"), "Open a document or a TensorFlow graph",
           ("Ctrl+O",), "open", when.always, "File", 0),
    Action("file.welcome", "Start page", window("close"), "Close the document; show the examples",
           ("Ctrl+W",), "", when.is_open, "File", 1),
    Action("file.save", "Save", window("save"), "Write the document to its file", ("Ctrl+S",),
           "save", when.can_save, "File", 2),
    Action("file.save_as", "Save as…", window("save_as"), "Write the document to another file",
           ("Ctrl+Shift+S",), "", when.is_open, "File", 2),
    Action("file.export", "Export…", window("export"),
           "Write the graph as a picture, a GraphDef, Python or Graphviz", ("Ctrl+Shift+E",), "",
           when.is_open, "File", 2),
    Action("file.quit", "Quit", window("quit"), "Close the window", ("Ctrl+Q",), "",
           when.always, "File", 3),
)  # fmt: skip

EDIT = (
    Action("edit.undo", "Undo", lambda w: w.undo_stack.undo(), "Take the last edit back",
           ("Ctrl+Z",), "undo", when.can_undo, "Edit", 0),
    Action("edit.redo", "Redo", lambda w: w.undo_stack.redo(), "Make the edit again",
           ("Ctrl+Shift+Z", "Ctrl+Y"), "redo", when.can_redo, "Edit", 0),
    Action("edit.cut", "Cut", commands.cut_selection, "Copy the selected nodes, and delete them",
           ("Ctrl+X",), "", when.any_selected, "Edit", 1, canvas=True),
    Action("edit.copy", "Copy", commands.copy_selection,
           "Put the selected nodes on the clipboard, for this or another window", ("Ctrl+C",), "",
           when.any_selected, "Edit", 1, canvas=True),
    Action("edit.paste", "Paste", window("paste"), "Add the nodes on the clipboard", ("Ctrl+V",),
           "", when.is_open, "Edit", 1, canvas=True),
    Action("edit.duplicate", "Duplicate", window("duplicate"),
           "Copy the selected nodes; the copies hang on the pointer until a click",
           ("Ctrl+D", "Shift+D"), "duplicate", when.any_selected, "Edit", 1, canvas=True),
    Action("edit.rename", "Rename", window("rename"),
           "Edit the name of the selected node or scope where it stands", ("F2",), "",
           when.unit_selected, "Edit", 1),
    Action("edit.delete", "Delete", commands.delete_selection,
           "Delete the selected nodes, or the selected wire", ("Del", "Backspace", "X"), "delete",
           when.wire_or_node_selected, "Edit", 1, canvas=True),
    Action("edit.delete_and_reconnect", "Delete and reconnect", commands.delete_and_reconnect,
           "Delete the selected nodes, and wire what read them to what they read, where that fits",
           ("Ctrl+Del", "Ctrl+Backspace"), "", when.any_selected, "Edit", 1, canvas=True),
    Action("edit.group", "Group into a scope", commands.group_selection,
           "Put the selected nodes into a new scope, and type its name", ("Ctrl+Shift+G",), "",
           when.any_selected, "Edit", 1),
    Action("edit.dissolve", "Dissolve scope", commands.dissolve_scope,
           "Take away the scope around what is selected; what is in it stays", (), "",
           when.one_scope_selected, "Edit", 1),
    Action("edit.align_row", "Align in a row", window("align_row"),
           "Put the selected nodes beside each other, with the same space between them", (), "",
           when.several_selected, "Edit", 1),
    Action("edit.align_column", "Align in a column", window("align_column"),
           "Put the selected nodes below each other, with the same space between them", (), "",
           when.several_selected, "Edit", 1),
    Action("edit.select_all", "Select all", commands.select_all, "Select every node",
           ("Ctrl+A",), "", when.is_open, "Edit", 2, canvas=True),
    Action("edit.select_inputs", "Select what it depends on", commands.select_inputs,
           "Add everything upstream to the selection", ("U",), "", when.any_selected, "Edit", 2,
           canvas=True),
    Action("edit.select_repeats", "Select blocks like this", commands.select_repeats,
           "Select every block that is wired like the one around the selected nodes; once more, "
           "the blocks around those", (), "", when.scope_selected, "Edit", 2),
    Action("edit.select_passes", "Select what all its gradient passes", commands.select_passes,
           "Select the operations that every way back to the selected node goes through, and say "
           "which stops would end its gradient", (), "", when.one_differentiated, "Edit", 2),
    Action("edit.find", "Find node…", window("find"), "Find a node by name or type",
           ("Ctrl+F",), "find", when.is_open, "Edit", 3),
    Action("edit.query", "Ask all runs…", window("query"),
           "At which step of which run something was so: the Queries panel", ("Ctrl+Shift+F",),
           "find", when.is_open, "Edit", 3),
)  # fmt: skip

VIEW = (
    Action("view.palette", "Command palette…", window("palette"), "Find and run any action",
           ("Ctrl+Shift+P",), "find", when.always, "View", 0),
    Action("view.fit", "Show everything", window("fit"), "Fit the whole graph into the canvas",
           ("Home", "A"), "fit", when.is_open, "View", 1, canvas=True),
    Action("view.fit_selection", "Show selection", window("fit_selection"),
           "Fit the selected nodes into the canvas", ("F",), "", when.any_selected, "View", 1,
           canvas=True),
    Action("view.current", "Show current step", window("current"),
           "Bring the node of the current step into view", ("C",), "", when.has_next_step,
           "View", 1, canvas=True),
    Action("view.outline", "Show in the outline", window("show", "outline"),
           "Bring the outline to the front, at what is selected", (), "", when.any_selected, "View",
           1),
    Action("view.tensor", "Show the tensor", window("show", "tensor"),
           "Bring the selected node's numbers to the front", (), "", when.one_selected, "View", 1),
    Action("view.zoom_in", "Zoom in", window("zoom_in"), "Make the graph larger",
           ("Ctrl++", "Ctrl+="), "", when.is_open, "View", 2),
    Action("view.zoom_out", "Zoom out", window("zoom_out"), "Make the graph smaller",
           ("Ctrl+-",), "", when.is_open, "View", 2),
    Action("view.zoom_100", "Actual size", window("zoom_100"), "Zoom to 100 %",
           ("Ctrl+0", "Ctrl+1"), "", when.is_open, "View", 2),
    Action("view.arrange", "Arrange nodes", window("arrange"), "Lay the graph out anew",
           ("L", "Ctrl+L"), "", when.is_open, "View", 3, canvas=True),
    Action("view.toggle_scope", "Collapse or open scope", window("toggle_scope"),
           "Show the scope of the selected node as one box, or open it", ("H",), "",
           when.scope_selected, "View", 3, canvas=True),
    Action("view.open_scopes", "Open every scope", window("open_scopes"),
           "Show every operation in its own box", (), "", when.has_scopes, "View", 3),
    Action("view.collapse_scopes", "Collapse every scope", window("collapse_scopes"),
           "Show every scope as one box", (), "", when.has_scopes, "View", 3),
    Action("view.minimap", "Overview", window("minimap"), "Show the graph in a corner, or not",
           ("O",), "", when.is_open, "View", 3, canvas=True),
    Action("view.pictures", "Pictures of values", window("pictures"),
           "Show images, kernels and attention as small pictures beside their nodes", (), "",
           when.is_open, "View", 3, checked=lambda workspace: settings().pictures),
    Action("view.stacks", "Stack equal blocks", lambda workspace: workspace.stacks.toggle(),
           "Show equal closed blocks in a row, as the layers of a transformer, as one box", (), "",
           when.is_open, "View", 3, checked=lambda workspace: workspace.stacks.are_shown),
    Action("view.data", "Data", window("show", "data"),
           "Where rows of data come from, and the batch that this run is fed", (), "data",
           when.is_open, "View", 4),
    Action("view.training", "Training", window("show", "training"),
           "How training goes: the loss, and what else is followed, step by step", (), "train",
           when.is_open, "View", 4),
    Action("view.console", "Console", window("console"),
           "The debugger by lines of text, as in the terminal", ("Ctrl+`",), "", when.is_open,
           "View", 4),
    Action("view.profile", "Profile", window("show", "profile"),
           "Where the time and the bytes of a run go", ("Ctrl+Shift+T",), "profile", when.is_open,
           "View", 4),
    Action("view.colour_time", "Colour by time", _colour_by("time"),
           "Tint each node by its share of the run's time", ("T",), "", when.is_open, "View", 4,
           canvas=True, checked=_colours_by("time")),
    Action("view.colour_bytes", "Colour by bytes", _colour_by("bytes"),
           "Tint each node by its share of the bytes that the run makes", ("B",), "", when.is_open,
           "View", 4, canvas=True, checked=_colours_by("bytes")),
    Action("view.colour_difference", "Colour by difference", _colour_by("difference"),
           "Tint each node by how far its result on another device is from that here", (), "",
           when.is_open, "View", 4, canvas=True, checked=_colours_by("difference")),
    Action("view.light", "Light", _theme("light"), "Dark text on white", (), "",
           when.always, "View", 5, checked=_theme_is("light")),
    Action("view.dark", "Dark", _theme("dark"), "Light text on black", (), "",
           when.always, "View", 5, checked=_theme_is("dark")),
    Action("view.system", "As the desktop", _theme("system"), "Follow the desktop's choice", (), "",
           when.always, "View", 5, checked=_theme_is("system")),
    Action("view.motion", "Animations", _toggle_motion, "Let short movements show what changed",
           (), "", when.always, "View", 6, checked=lambda w: settings().motion),
    Action("view.reset_layout", "Reset layout", window("reset_layout"),
           "Put every panel back where it was at first", (), "", when.always, "View", 7),
)  # fmt: skip

GRAPH = (
    Action("graph.add", "Add node…", window("add"), "Find an operation and place it",
           ("Shift+A",), "add", when.is_open, "Graph", 0, canvas=True),
    Action("graph.wire", "Connect to…", window("wire"),
           "Choose by name what the selected node reads, or what reads it", ("W",), "",
           when.one_selected, "Graph", 0, canvas=True),
    Action("graph.run_after", "Run after…", window("run_after"),
           "Choose by name a node that has to run before the selected one: a control dependency",
           ("Shift+W",), "", when.one_selected, "Graph", 0, canvas=True),
    Action("graph.replace", "Replace by…", window("change_type"),
           "Find another operation for the selected node's place; its wires stay", ("Shift+S",), "",
           when.one_of_other_types, "Graph", 0, canvas=True),
    Action("graph.swap_inputs", "Swap inputs", commands.exchange_inputs,
           "Let two inputs of the selected node change places, as of a − b", ("Alt+S",), "",
           when.one_with_two_inputs, "Graph", 0, canvas=True),
    Action("graph.next_wire", "Next wire", window("next_wire"),
           "Select the wires into the selected node, one after the other", ("E",), "",
           when.wire_or_node_selected, "Graph", 0, canvas=True),
    Action("graph.wire_start", "Go to where the wire comes from", commands.reveal_start,
           "Select the node that gives what the selected wire carries", (), "", when.wire_selected,
           "Graph", 0),
    Action("graph.wire_end", "Go to where the wire leads", commands.reveal_end,
           "Select the node that takes what the selected wire carries", (), "", when.wire_selected,
           "Graph", 0),
    Action("graph.stop_gradient", "Stop gradient", commands.toggle_stop,
           "Let no gradient through the selected wire, or let it through again", ("S",),
           "stop_gradient", when.can_stop_gradient, "Graph", 1, canvas=True),
    Action("graph.try_stop", "Stop gradient on a branch", commands.try_stop,
           "Let no gradient through the selected wire or node, from this run on, on a branch of "
           "the runs that one can leave: the document stays as it is", (), "",
           when.can_try_stop, "Graph", 1),
    Action("graph.native", "Use the native gradient",
           lambda w: commands.use_native_gradient(w, w.selection[0]),
           "Switch off what overrides the selected node's gradient", (), "",
           when.one_overridden, "Graph", 1),
    Action("graph.code", "Edit Python…", window("code"),
           "Edit the document's functions, or write one that its graph names", (), "code",
           when.has_code, "Graph", 2),
    Action("graph.restore", "Restore variables…", window("restore"),
           "Let variables start as a checkpoint has them, by their names: TensorFlow's, one of "
           "gradstep train, .npz or .safetensors", (), "", when.is_open, "Graph", 2),
    Action("graph.keep_values", "Keep values as initial values", commands.keep_values,
           "Let the variables start with what they hold where the debugger stands, as after a "
           "training; runs, and slots of optimizers, begin anew from there", (), "",
           when.can_keep_values, "Graph", 2),
    Action("graph.no_optimizer", "No optimizer", _optimizer(""), "End each run after the gradients",
           (), "", when.is_open, "Graph", 4, checked=when.optimizer_is("")),
    Action("graph.adam", "Adam", _optimizer("Adam", learning_rate=0.001, beta1=0.9, beta2=0.999,
           epsilon=1e-8), "Update the variables by Adam", (), "", when.has_one_optimizer,
           "Graph", 4, checked=when.optimizer_is("Adam")),
    Action("graph.gradient_descent", "Gradient descent",
           _optimizer("GradientDescent", learning_rate=0.1),
           "Update the variables by gradient descent", (), "", when.has_one_optimizer, "Graph", 4,
           checked=when.optimizer_is("GradientDescent")),
    Action("graph.momentum", "Momentum", _optimizer("Momentum", learning_rate=0.01, momentum=0.9),
           "Update the variables by gradient descent with momentum", (), "",
           when.has_one_optimizer, "Graph", 4, checked=when.optimizer_is("Momentum")),
)  # fmt: skip

RUN = (
    *move_actions(section=0),
    Action("run.pause", "Pause", commands.pause, "Stop a long run at its next step", ("F6",),
           "pause", when.is_busy, "Run", 1),
    *move_actions(section=1),
    Action("run.train", "Train", commands.train,
           "Make as many steps as the Training panel says, 200 at first, and draw the loss",
           ("Ctrl+F5",), "train", when.can_train, "Run", 1, toolbar=True),
    Action("run.follow", "Follow while training", commands.follow_selected,
           "Draw what the selected nodes give, step by step, in the Training panel", (), "",
           when.any_selected, "Run", 1),
    Action("run.follow_training", "Follow a training…", _follow_training,
           "Draw a PyTorch loop that runs on this machine inside gradstep.watch, step by step", (),
           "", when.always, "Run", 1),
    Action("run.events", "Open event files…", window("events"),
           "Draw the curves of TensorBoard's event files in a folder beside those of trainings "
           "here", (), "", when.always, "Run", 1),
    Action("run.watch", "Watch", commands.watch_selected,
           "Show what the selected nodes give wherever the debugger stops, in the Watches panel",
           ("Shift+F9",), "", when.any_selected, "Run", 1),
    Action("run.reseed", "Other random numbers here", commands.reseed,
           "Draw other random numbers from here on, on a branch of the runs that one can leave", (),
           "", when.can_reseed, "Run", 1),
    Action("run.who_wrote", "Who wrote this value?", commands.who_wrote_selected,
           "Look for the last step that gave the selected node the value that it has here", (), "",
           when.one_selected, "Run", 1),
    Action("run.first_broken", "Go to the first NaN or infinity", commands.go_to_first_broken,
           "Back, or forward, to the step that made it, in whatever run, and to its node", (), "",
           when.is_broken, "Run", 1),
    Action("run.breakpoint", "Toggle breakpoint", commands.toggle_breakpoint,
           "Stop before the selected node, and before its gradient", ("F9",), "breakpoint",
           when.any_selected, "Run", 2),
    Action("run.check", "Check gradients", commands.check_gradients,
           "Compare native, overridden and numeric gradients", ("Ctrl+K",), "check",
           when.has_request, "Run", 3),
    Action("run.check_node", "Check this gradient",
           lambda w: commands.check_node(w, w.selection[0]),
           "Compare the selected node's gradient with finite differences of it alone",
           ("Ctrl+Shift+K",), "check", when.one_with_inputs, "Run", 3),
    Action("run.why_value", "Why this value?", commands.why_value_selected,
           "Say what makes the selected node's value NaN, infinite or zero, and go there",
           ("Shift+Y",), "help", when.one_selected, "Run", 3, canvas=True),
    Action("run.why", "Why this gradient?", commands.why_selected,
           "Say what makes the gradient at the selected node what it is, and go there", ("Y",),
           "help", when.one_differentiated, "Run", 3, canvas=True),
    Action("run.try", "Try what mends it…", commands.try_offered,
           "Try the edits that the last answer to a why names, each beside the run as it is", (),
           "", when.has_edits_to_try, "Run", 3),
    Action("run.smallest", commands.SMALLEST, commands.smallest_of_last,
           "Write the few operations that show what the last answer to a why is about", (), "",
           when.has_something_to_show, "Run", 3),
    Action("run.expect", "Expect what this run gives", commands.expect_run,
           "Write down in the document what the selected nodes, or all that is asked for, hold at "
           "the end of this run, for later runs to be held to", (), "", when.is_open, "Run", 3),
    Action("run.measure", "Measure", commands.measure,
           "Time every operation of some runs, on copies of the variables", ("Ctrl+T",), "profile",
           when.can_measure, "Run", 3),
    Action("run.sessions", "Sessions", window("show", "sessions"),
           "Several sessions of this graph, each with its own variables and runs", (), "",
           when.is_open, "Run", 4),
    Action("run.restart_engine", "Restart engine", commands.restart_engine,
           "End the engine process, and come back to the same step in a new one", (), "",
           when.always, "Run", 4),
)  # fmt: skip

DEVICES = (
    Action("devices.compare", "Compare devices", commands.compare,
           "Run every node on both devices and show where they part", ("Ctrl+R",), "compare",
           when.is_open, "Devices", 0),
    Action("devices.precision", "Precision", window("show", "precision"),
           "What shorter number formats do to the loss, and what has to stay in float32", (), "",
           when.is_open, "Devices", 0),
)  # fmt: skip

HELP = (
    Action("help.tutorial", "Open the tutorial", _open_tutorial,
           "A small network to step through, in a window of its own where a document is open", (),
           "", when.always, "Help", 0),
    Action("help.exporter_torch", "Save the exporter for PyTorch…", window("exporter", "torch"),
           "One file to put beside your code, which writes a trace of a model", (), "",
           when.always, "Help", 1),
    Action("help.exporter_jax", "Save the exporter for JAX…", window("exporter", "jax"),
           "One file to put beside your code, which writes a trace of a function", (), "",
           when.always, "Help", 1),
    Action("help.log", "Open the log", window("log"), "What went wrong, in full", (), "",
           when.always, "Help", 2),
)  # fmt: skip

ACTIONS = with_dialogs((*FILE, *EDIT, *VIEW, *GRAPH, *RUN, *DEVICES, *HELP), DIALOGS)
BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def run(id: str, workspace: Workspace) -> bool:
    """Run an action if it is enabled now; whether it was."""
    action = BY_ID[id]
    if not action.enabled(workspace):
        return False
    action.run(workspace)
    return True
