"""The one table of dialogs: what each is asked for by, where it is in the menus, and its class.

Questions in the middle of something else (about unsaved work, a file that changed, a large one) are
asked where they come up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradstep.gui.actions import action_record as when
from gradstep.gui.actions.action_record import Action, Condition
from gradstep.gui.model.workspace import Workspace


@dataclass(frozen=True)
class DialogRecord:
    """One dialog, which menus and panels open.

    id: what it is asked for by; its object name is `<id>_dialog`, its action's `<menu>.<id>`.
    module, kind: where its class is, which is made of the workspace, of the selected operation if
                  it is `of_operation`, and of the window.
    title, tip, menu, section, keys, icon, enabled: of its row in the menus, as an Action has them;
                  without a menu it is in none.
    after:        id of the action behind which that row stands.
    """

    id: str
    module: str
    kind: str
    title: str
    tip: str = ""
    menu: str = ""
    section: int = 0
    after: str = ""
    keys: tuple[str, ...] = ()
    icon: str = ""
    enabled: Condition = when.is_open
    of_operation: bool = False

    @property
    def action(self) -> Action:
        """Its row in the menus."""
        return Action(
            f"{self.menu.lower()}.{self.id}",
            self.title,
            lambda workspace: open_dialog(workspace, self),
            self.tip,
            self.keys,
            self.icon,
            self.enabled,
            self.menu,
            self.section,
        )


NOTE = DialogRecord(
    "note",
    "gradstep.gui.dialogs.note_dialog",
    "NoteDialog",
    "Note…",
    "Write what the document is about, and what to look at",
    "Edit",
    section=3,
    after="edit.select_passes",
    keys=("Ctrl+Shift+N",),
)
VALUE = DialogRecord(
    "value",
    "gradstep.gui.dialogs.value_dialog",
    "ValueDialog",
    "Edit value…",
    "Set what is fed, or what a variable starts with",
    "Graph",
    section=0,
    after="graph.wire_end",
    keys=("Ctrl+E",),
    enabled=when.one_with_value,
    of_operation=True,
)
VALUE_HERE = DialogRecord(
    "value_here",
    "gradstep.gui.dialogs.value_dialog",
    "ValueHereDialog",
    "Set value here…",
    "Give the selected node another value from here on, on a branch of the runs that one can leave",
    "Run",
    section=1,
    after="run.watch",
    keys=("Ctrl+Alt+E",),
    enabled=when.one_value_here,
    of_operation=True,
)
OVERRIDE = DialogRecord(
    "override",
    "gradstep.gui.dialogs.override_dialog",
    "OverrideDialog",
    "Override gradient…",
    "Give the selected node a gradient function of your own",
    "Graph",
    section=1,
    after="graph.stop_gradient",
    keys=("Ctrl+G",),
    icon="override",
    enabled=when.one_with_inputs,
    of_operation=True,
)
PYFUNC = DialogRecord(
    "pyfunc",
    "gradstep.gui.dialogs.py_func_conversion_dialog",
    "PyFuncDialog",
    "Make it a Python function…",
    "Replace the selected node by a function that computes the same",
    "Graph",
    section=2,
    after="graph.native",
    icon="code",
    enabled=when.one_with_inputs,
    of_operation=True,
)
TRUST = DialogRecord(
    "trust",
    "gradstep.gui.dialogs.trust_dialog",
    "TrustDialog",
    "Review and trust…",
    "Read the document's Python, and decide whether it may run",
    "Graph",
    section=2,
    after="graph.code",
    icon="trust",
    enabled=when.has_python,
)
REQUEST = DialogRecord(
    "request",
    "gradstep.gui.dialogs.request_dialog",
    "RequestDialog",
    "Differentiate…",
    "Choose of what, and with respect to what, gradients are derived",
    "Graph",
    section=3,
    after="graph.keep_values",
)
OPTIMIZERS = DialogRecord(
    "optimizers",
    "gradstep.gui.dialogs.optimizers_dialog",
    "OptimizersDialog",
    "Optimizers…",
    "Every kind, each with its rate, loss and variables; several in one graph",
    "Graph",
    section=4,
    after="graph.momentum",
)
LINTS = DialogRecord(
    "lints",
    "gradstep.gui.dialogs.lints_dialog",
    "LintsDialog",
    "Lints…",
    "Which mistakes the Problems panel looks for, each to be switched off",
    "Graph",
    section=4,
    after="graph.optimizers",
)
SWEEP = DialogRecord(
    "sweep",
    "gradstep.gui.dialogs.sweep_dialog",
    "SweepDialog",
    "Sweep…",
    "Train with many settings and seeds, in several processes, and compare",
    "Run",
    section=1,
    after="run.follow",
    enabled=when.can_train,
)
ENGINE = DialogRecord(
    "engine",
    "gradstep.gui.dialogs.engine_dialog",
    "EngineDialog",
    "Engine…",
    "Where the engine runs: on this machine, or on another one by ssh",
    "Run",
    section=4,
    after="run.restart_engine",
    enabled=when.always,
)
PLACE = DialogRecord(
    "place",
    "gradstep.gui.dialogs.place_dialog",
    "PlaceDialog",
    "Device…",
    "Choose the device that computes the selected nodes, another one than that of the run",
    "Graph",
    section=1,
    after="graph.override",
    enabled=when.any_selected,
)
FOLLOWED = DialogRecord(
    "followed",
    "gradstep.gui.dialogs.followed_dialog",
    "FollowedDialog",
    "Follow a training",
)
COPY_VALUES = DialogRecord(
    "copy_values",
    "gradstep.gui.dialogs.copy_values_dialog",
    "CopyValuesDialog",
    "Copy values…",
)
SHORTCUTS = DialogRecord(
    "shortcuts",
    "gradstep.gui.dialogs.shortcuts_dialog",
    "ShortcutsDialog",
    "Keyboard shortcuts",
    "Every key there is, and a field to look for one",
    "Help",
    section=0,
    after="devices.compare",
    keys=("F1",),
    icon="help",
    enabled=when.always,
)
GUIDE = "gradstep.gui.dialogs.guide_dialog"
FIRST_STEPS = DialogRecord(
    "first_steps",
    GUIDE,
    "GuideDialog",
    "First steps",
    "How to run, step and look, in one page",
    "Help",
    section=0,
    after="help.shortcuts",
    enabled=when.always,
)
BRING_MODEL = DialogRecord(
    "bring_model",
    GUIDE,
    "BringModelDialog",
    "Bring a model…",
    "How a model comes here from PyTorch, JAX, ONNX or TensorFlow",
    "Help",
    section=1,
    after="help.tutorial",
    enabled=when.always,
)
MESSAGES = DialogRecord(
    "messages",
    GUIDE,
    "MessagesDialog",
    "Messages and logs",
    "Where the program says what went wrong, and where that is written down",
    "Help",
    section=2,
    after="help.exporter_jax",
    enabled=when.always,
)
DOCTOR = DialogRecord(
    "doctor",
    "gradstep.gui.dialogs.doctor_dialog",
    "DoctorDialog",
    "What this machine has…",
    "Versions, devices and libraries, and how to get what is missing: gradstep doctor",
    "Help",
    section=2,
    after="help.messages",
    enabled=when.always,
)
TRUSTED = DialogRecord(
    "trusted",
    "gradstep.gui.dialogs.trusted_code_dialog",
    "TrustedCodeDialog",
    "Trusted code…",
    "Documents whose Python may run, and taking that back: gradstep trust",
    "Help",
    section=2,
    after="help.doctor",
    enabled=when.always,
)
ABOUT = DialogRecord(
    "about",
    "gradstep.gui.dialogs.about_dialog",
    "AboutDialog",
    "About Gradstep",
    "Version and licences",
    "Help",
    section=3,
    after="help.log",
    icon="info",
    enabled=when.always,
)

REPAIRS = DialogRecord(
    "repairs",
    "gradstep.gui.dialogs.repairs_dialog",
    "RepairsDialog",
    "Try what mends it",
)

DIALOGS: tuple[DialogRecord, ...] = (
    NOTE, VALUE, VALUE_HERE, OVERRIDE, PLACE, PYFUNC, TRUST, REQUEST, OPTIMIZERS, LINTS, SWEEP,
    ENGINE, FOLLOWED, REPAIRS, COPY_VALUES, SHORTCUTS, FIRST_STEPS, BRING_MODEL, MESSAGES, DOCTOR,
    TRUSTED, ABOUT,
)  # fmt: skip


def open_dialog(workspace: Workspace, dialog: DialogRecord) -> None:
    """Have the window open it. One of an operation is about the selected one."""
    workspace.view_requested.emit(dialog.id, "")


def with_dialogs(rows: Sequence[Action], dialogs: Sequence[DialogRecord]) -> tuple[Action, ...]:
    """The rows of the menus, those of dialogs among them."""
    found = list(rows)
    for dialog in dialogs:
        if dialog.menu:
            place = next(i for i, row in enumerate(found, 1) if row.id == dialog.after)
            found.insert(place, dialog.action)
    return tuple(found)
