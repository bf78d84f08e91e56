"""What a tensor is held against, chosen from a menu: another step, run, session or tensor."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidgetAction

from gradstep.core.protocol.messages import OtherTensor
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import mono
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace

MOST = 24  # tensors of the same shape that are offered
_MOMENT = re.compile(r"\s*(\d+)\s*(?::\s*(\d+)\s*)?")


class ComparisonMenu(QPushButton):
    """chosen(OtherTensor | None): the user wants the difference to that. Runs are counted from 1 in
    words, as everywhere. pinned: names of tensors that are offered first."""

    chosen = Signal(object)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("tensor.minus")
        self.setToolTip(plain(self.tr("Show the difference to another step, run or tensor")))
        self._workspace = workspace
        self._value: TensorValue | None = None
        self._now: OtherTensor | None = None
        self.pinned: list[str] = []
        self._menu = QMenu(self)
        self._menu.setObjectName("tensor.minus_menu")
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.show_chosen(None, None)

    def show_chosen(self, value: TensorValue | None, minus: OtherTensor | None) -> None:
        """What is held against `value` now."""
        self._value, self._now = value, minus
        text = self.tr("Minus…") if minus is None else f"− {words(minus)}"
        self.setText(plain(text))
        self.setAccessibleName(text)

    def _fill(self) -> None:
        """As things stand."""
        self._menu.clear()
        self._add(self.tr("Nothing"), None)
        self._menu.addSeparator()
        stop = self._workspace.stop
        if stop is not None:
            now = OtherTensor(run=stop.run, step=stop.step)
            self._add(self.tr("As it is now: {}").format(words(now)), now)
            self._add(self.tr("One run earlier"), OtherTensor(earlier=1))
            self._add(self.tr("As the first run began"), OtherTensor(run=0, step=0))
            self._add_field()
        others = [
            n for n in self._workspace.sessions.names if n != self._workspace.sessions.current
        ]
        for name in others:
            self._add(self.tr("Session {}").format(name), OtherTensor(session=name))
        for branch in () if stop is None else stop.branches:
            if not branch.current:
                self._add(self.tr("Branch {}").format(branch.name), OtherTensor(branch=branch.name))
        self._add_recorded()
        self._add_tensors()

    def _add_recorded(self) -> None:
        """What another framework computed of it, where that is known."""
        run, program = self._workspace.document.recorded, self._workspace.program
        if run is None or self._value is None:
            return
        held = {} if program is None else program.gradients
        of = next((name for name, ref in held.items() if ref == self._value.ref), "")
        if run.told_of(self._value.ref, of) is not None:
            words = self.tr("As {} computed it").format(run.source)
            self._add(words, OtherTensor(recorded=True))

    def _add_field(self) -> None:
        """For any run and step."""
        field = QLineEdit()
        field.setObjectName("tensor.minus_moment")
        field.setFont(mono(12))
        field.setPlaceholderText(self.tr("run, or run:step"))
        field.setAccessibleName(self.tr("Run, or run and step, to hold it against"))
        field.returnPressed.connect(lambda: self._read(field))
        action = QWidgetAction(self._menu)
        action.setDefaultWidget(field)
        self._menu.addAction(action)

    def _read(self, field: QLineEdit) -> None:
        moment = parse_moment(field.text())
        if moment is None:
            field.selectAll()
            return
        self._menu.close()
        self.chosen.emit(moment)

    def _add_tensors(self) -> None:
        names = [*dict.fromkeys([*self.pinned, *self._of_the_same_shape()])]
        mine = "" if self._value is None else self._value.ref
        names = [name for name in names if name != mine][:MOST]
        if names:
            self._menu.addSeparator()
        for name in names:
            self._add(name, OtherTensor(ref=name))

    def _of_the_same_shape(self) -> Iterable[str]:
        if self._value is None:
            return
        shape = self._value.shape
        program, space = self._workspace.program, self._workspace
        if program is not None and self._value.ref in program.gradients:
            yield program.gradients[self._value.ref]
        for ref, kind in space.inference.types.items():
            if kind.shape.is_static and kind.shape.static() == shape and kind.dtype.is_number:
                yield str(ref)

    def _add(self, text: str, other: OtherTensor | None) -> None:
        action = self._menu.addAction(plain(text))
        action.setCheckable(True)
        action.setChecked(other == self._now)
        action.triggered.connect(lambda: self.chosen.emit(other))


def parse_moment(text: str) -> OtherTensor | None:
    """`3`: the same step of the third run; `3:12`: once 12 steps of it are done. None for what is
    neither."""
    found = _MOMENT.fullmatch(text)
    if found is None or not int(found[1]):
        return None
    return OtherTensor(run=int(found[1]) - 1, step=-1 if found[2] is None else int(found[2]))


def words(other: OtherTensor) -> str:
    """`run 3, step 12`, `session b`."""
    parts = [other.ref] if other.ref else []
    parts += [f"session {other.session}"] if other.session else []
    parts += [f"branch {other.branch}"] if other.branch else []
    parts += [f"run {other.run + 1}"] if other.run >= 0 else []
    parts += [f"step {other.step}"] if other.step >= 0 else []
    parts += ["recorded"] if other.recorded else []
    if other.earlier:
        parts.append("one run earlier" if other.earlier == 1 else f"{other.earlier} runs earlier")
    return ", ".join(parts) or "itself"
