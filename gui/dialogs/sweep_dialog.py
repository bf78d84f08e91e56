"""Beginning a sweep: what varies, how often, for how many steps, in how many processes."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtWidgets import (
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from gradstep.core.errors import GradstepError
from gradstep.core.sweep.run_list import RunSpec, grid, sample
from gradstep.core.sweep.run_seed import is_seeded
from gradstep.core.sweep.setting_syntax import Setting, number_text, parse_setting
from gradstep.core.sweep.setting_targets import check_settings, settable_names
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import mono
from gradstep.gui.model.error_words import words
from gradstep.gui.model.settings import state_folder
from gradstep.gui.model.sweep_process import free_folder
from gradstep.gui.model.workspace import Workspace

_NAMED = 8  # of what can be set
_MOST = 1_000_000_000


class SweepDialog(Dialog):
    """A line for each setting; how many runs that makes is said while it is written."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "sweep_dialog", "Sweep", parent)
        self.settings = QPlainTextEdit(_first(workspace))
        self.settings.setFont(mono(12))
        self.settings.setTabChangesFocus(True)
        self.settings.setMinimumHeight(84)
        self.drawn = self._number("drawn", "Combinations", "", "all of them, or so many drawn")
        self.seeds = self._number("seeds", "Seeds of each", "", "none: one run each")
        self.steps = self._number("steps", "Steps of a run", str(workspace.training.steps))
        self.workers = self._number("workers", "Processes", str(os.cpu_count() or 1))
        name = Path(workspace.name).stem or "sweep"
        self.folder = QLineEdit(str(free_folder(state_folder() / "sweeps", name)))
        self.count = Label()
        self._lay_out()
        self.settings.textChanged.connect(self._say_count)
        for field in (self.seeds, self.drawn):
            field.textChanged.connect(self._say_count)
        self._say_count()

    def apply(self) -> str:
        try:
            self._asked()
        except GradstepError as error:
            return words(error)
        folder = Path(self.folder.text().strip()).expanduser()
        if not folder.is_absolute():
            return "The folder is not named from the top on"
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            return f"{folder} holds something already: name a new folder"
        commands.start_sweep(self.workspace, folder, self._words())
        return ""

    # -- inside --------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.add_text("One setting a line: a range, 1e-4:1:log8, or values, 0.1,0.3", "muted")
        self._named(self.settings, "settings", "Settings")
        self.column.addWidget(self.settings, 1)
        names = settable_names(self.workspace.document)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        self.add_text(f"Can be set: {', '.join(names[:_NAMED])}{more}, NODE.ATTRIBUTE", "muted")
        form = QFormLayout()
        form.addRow("Combinations", self.drawn)
        form.addRow("Seeds of each", self.seeds)
        form.addRow("Steps of a run", self.steps)
        form.addRow("Processes", self.workers)
        form.addRow("Folder", self.folder)
        self._named(self.folder, "folder", "Folder")
        self.column.addLayout(form)
        self.count.setObjectName("sweep_dialog.count")
        self.column.addWidget(self.count)
        self.add_buttons("Sweep")
        self.resize(520, 420)

    def _named(self, field: QWidget, name: str, title: str) -> None:
        field.setObjectName(f"sweep_dialog.{name}")
        field.setAccessibleName(title)

    def _number(self, name: str, title: str, text: str, hint: str = "") -> QLineEdit:
        field = QLineEdit(text)
        field.setPlaceholderText(hint)
        self._named(field, name, title)
        return field

    def _lines(self) -> list[str]:
        lines = self.settings.toPlainText().splitlines()
        return [line.strip() for line in lines if line.strip()]

    def _asked(self) -> tuple[tuple[Setting, ...], tuple[RunSpec, ...]]:
        """What varies, and the runs. Raises GradstepError."""
        settings = tuple(map(parse_setting, self._lines()))
        seeds = range(1, _count(self.seeds) + 1)
        document = self.workspace.document
        check_settings(document, settings, with_batch=False)
        if not settings and not seeds:
            raise GradstepError("nothing varies", hint="write a setting, or ask for seeds")
        if seeds and not is_seeded(document, settings):
            raise GradstepError(
                "nothing here is random, so seeds would make the same run again",
                hint="give a variable a generator, such as w=normal(0, 0.1)",
            )
        drawn, _, _ = _count(self.drawn), _count(self.steps), _count(self.workers)
        runs = sample(settings, drawn, 0, seeds) if drawn else grid(settings, seeds)
        return settings, runs

    def _words(self) -> list[str]:
        found = [f"--set={line}" for line in self._lines()]
        for name, field in (
            ("seeds", self.seeds),
            ("sample", self.drawn),
            ("steps", self.steps),
            ("workers", self.workers),
        ):
            found += [f"--{name}={_count(field)}"] if _count(field) else []
        return found

    def _say_count(self) -> None:
        """How many runs there would be, or why there would be none."""
        try:
            runs = self._asked()[1]
        except GradstepError as error:
            self.complain(words(error))
            self.count.setText("")
            return
        self.complain("")
        self.count.setText(count_of(len(runs), "run"))


def _count(field: QLineEdit) -> int:
    """What stands there; 0 for nothing. Raises GradstepError."""
    text = field.text().replace(",", "").strip()
    if not text:
        return 0
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        title = field.accessibleName().lower()
        raise GradstepError(f"'{text}' is no number of {title}", hint="write a whole number")
    return int(text)


def _first(workspace: Workspace) -> str:
    """A setting to begin with: about what the optimizer has now."""
    for optimizer in workspace.document.optimizers:
        rate = optimizer.hyper.get("learning_rate")
        if rate and len(workspace.document.optimizers) == 1:
            return f"learning_rate={number_text(rate / 10)}:{number_text(rate * 10)}:log5"
    return ""
