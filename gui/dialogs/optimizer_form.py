"""One optimizer as fields: its type and rate, what it minimizes, and which variables it trains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QToolButton,
    QWidget,
)

from gradstep.core.document.document import Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.train.optimizers import OPTIMIZERS, complete, is_flag
from gradstep.core.train.training_settings import read_settings
from gradstep.gui.dialogs.request_dialog import names_in
from gradstep.gui.look.plain_text import add_row, plain
from gradstep.gui.look.theme import mono
from gradstep.gui.model.error_words import words

_TIPS = {
    "of": "What it minimizes; empty for what Graph > Differentiate says",
    "wrt": "var_list: the variables that it updates; empty for all that are asked for",
    "scales": "Factors on single gradients, as in apply_gradients([(0.1 * g, w)]): w=0.1, b=0.5",
    "name": "The operation that runs its updates; empty for train",
    "schedule": "How the learning rate goes on, in TensorFlow's words: exponential_decay, "
    "natural_exp_decay, inverse_time_decay, polynomial_decay, cosine_decay, cosine_decay_restarts, "
    "linear_cosine_decay, noisy_linear_cosine_decay, piecewise_constant; in front of it "
    "warmup(100) *",
    "clip": "Of gradients, before they are applied: value, norm of each, or norm of all together",
    "decay": "Of weights: l2 adds to the gradient what the term factor / 2 * sum(w²) in the loss "
    "would; decoupled takes rate * factor * w from w beside the update",
}
CHOICES = {
    "schedule": (
        "exponential_decay(decay_steps=1000, decay_rate=0.96)",
        "exponential_decay(decay_steps=1000, decay_rate=0.5, staircase=True)",
        "inverse_time_decay(decay_steps=1000, decay_rate=0.5)",
        "polynomial_decay(decay_steps=10000, end_learning_rate=0.0001)",
        "cosine_decay(decay_steps=10000)",
        "cosine_decay_restarts(first_decay_steps=1000)",
        "piecewise_constant(boundaries=[1000, 2000], values=[0.1, 0.01, 0.001])",
        "warmup(100)",
        "warmup(100) * cosine_decay(decay_steps=10000)",
    ),
    "clip": ("global_norm(1)", "norm(1)", "value(1)"),
    "decay": ("l2(0.0001)", "decoupled(0.01)"),
}


class OptimizerForm(QWidget):
    """`changed` when the user edits something that can be read; `wrong` says what cannot."""

    changed = Signal(object)  # Optimizer
    wrong = Signal(str)

    def __init__(self, names: Mapping[str, str], parent: QWidget | None = None) -> None:
        """names: what stands in an empty field, by the field's name."""
        super().__init__(parent)
        self.type = QComboBox()
        self.type.setObjectName("optimizer.type")
        self.type.setAccessibleName("Optimizer")
        self.type.addItems(list(OPTIMIZERS))
        self.form = QFormLayout(self)
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.addRow("Optimizer", self.type)
        self.hyper: dict[str, QLineEdit | QCheckBox] = {}
        self.fields: dict[str, QLineEdit] = {}
        bent = {"schedule": "Schedule", "clip": "Clipping", "decay": "Weight decay"}
        words = {**bent, "of": "Minimizes", "wrt": "by changing", "scales": "Gradients times"}
        for name, title in {**words, "name": "Called"}.items():
            self.fields[name] = self._field(name, title, names.get(name, ""))
            self.fields[name].setToolTip(plain(_TIPS[name]))
            if name in CHOICES:
                self._offer(self.fields[name], CHOICES[name])
            self.form.addRow(plain(title), self.fields[name])
        self.enabled = QCheckBox("Runs execute it")
        self.enabled.setObjectName("optimizer.enabled")
        self.enabled.toggled.connect(self._edited)
        self.form.addRow("", self.enabled)
        self.type.activated.connect(self._choose_type)

    def show_optimizer(self, optimizer: Optimizer) -> None:
        """Fill the fields."""
        self.type.setCurrentText(optimizer.type)
        self._show_hyper(optimizer.type, optimizer.hyper)
        texts = {
            "of": " ".join(ref.short for ref in optimizer.of),
            "wrt": " ".join(ref.short for ref in optimizer.wrt),
            "scales": " ".join(f"{name}={value:g}" for name, value in optimizer.scales.items()),
            "name": optimizer.name,
            "schedule": optimizer.schedule,
            "clip": optimizer.clip,
            "decay": optimizer.decay,
        }
        for name, text in texts.items():
            self.fields[name].setText(text)
        self.enabled.blockSignals(True)
        self.enabled.setChecked(optimizer.enabled)
        self.enabled.blockSignals(False)

    def optimizer(self) -> Optimizer:
        """What the fields say. Raises GradstepError where they cannot be read."""
        type = self.type.currentText()
        hyper = dict(self._read_hyper())
        complete(type, hyper)
        bent = [self.fields[name].text().strip() for name in CHOICES]
        read_settings(*bent)
        return Optimizer(
            type,
            hyper,
            tuple(TensorRef.parse(n) for n in names_in(self.fields["of"].text())),
            tuple(TensorRef.parse(n) for n in names_in(self.fields["wrt"].text())),
            dict(_scales(self.fields["scales"].text())),
            self.fields["name"].text().strip(),
            self.enabled.isChecked(),
            *bent,
        )

    def _edited(self) -> None:
        try:
            optimizer = self.optimizer()
        except GradstepError as error:
            self.wrong.emit(words(error))
            return
        self.wrong.emit("")
        self.changed.emit(optimizer)

    def _offer(self, field: QLineEdit, choices: tuple[str, ...]) -> None:
        """A button in the field with what could stand there."""
        menu = QMenu(field)
        for text in ("", *choices):
            row = add_row(menu, text or "None")
            row.triggered.connect(lambda *_, text=text: self._choose(field, text))
        button = QToolButton(field)
        button.setObjectName(f"{field.objectName()}.choices")
        button.setAccessibleName(f"{field.accessibleName()}: choices")
        button.setAutoRaise(True)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(menu)
        inside = QHBoxLayout(field)
        inside.setContentsMargins(0, 0, 2, 0)
        inside.addStretch(1)
        inside.addWidget(button)
        field.setTextMargins(0, 0, 22, 0)

    def _choose(self, field: QLineEdit, text: str) -> None:
        field.setText(text)
        field.setCursorPosition(0)
        self._edited()

    # -- hyper-parameters ------------------------------------------------------------------------

    def _choose_type(self) -> None:
        """Another type has other hyper-parameters; those of the same name keep their value."""
        kept = {name: field.text() for name, field in self._numbers()}
        type = self.type.currentText()
        self._show_hyper(type, {})
        for name, field in self._numbers():
            field.setText(kept.get(name) or _start(type, name))
        self._edited()

    def _show_hyper(self, type: str, values: Mapping[str, float]) -> None:
        for field in self.hyper.values():
            self.form.removeRow(field)
        self.hyper = {}
        for row, (name, default) in enumerate(OPTIMIZERS[type].items(), 1):
            value = values.get(name)
            if is_flag(type, name):
                self.hyper[name] = self._flag(name, bool(default if value is None else value))
                self.form.insertRow(row, "", self.hyper[name])
            else:
                shown = "" if default is None else f"{default:g}"
                line = self.hyper[name] = self._field(name, _words(name), shown)
                line.setText("" if value is None else f"{value:g}")
                self.form.insertRow(row, _words(name), line)

    def _flag(self, name: str, on: bool) -> QCheckBox:
        box = QCheckBox(_words(name))
        box.setObjectName(f"optimizer.{name}")
        box.setChecked(on)
        box.toggled.connect(self._edited)
        return box

    def _numbers(self) -> Iterator[tuple[str, QLineEdit]]:
        for name, field in self.hyper.items():
            if isinstance(field, QLineEdit):
                yield name, field

    def _read_hyper(self) -> Iterator[tuple[str, float]]:
        for name, field in self.hyper.items():
            if isinstance(field, QCheckBox):
                if field.isChecked():
                    yield name, 1.0
            elif field.text().strip():
                yield name, _number(name, field.text())

    def _field(self, name: str, title: str, empty: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(f"optimizer.{name}")
        field.setAccessibleName(title)
        field.setPlaceholderText(empty)
        field.setFont(mono())
        field.textEdited.connect(self._edited)
        return field


def _words(name: str) -> str:
    """`learning_rate` as people read it."""
    return name.replace("_", " ").capitalize()


def _start(type: str, name: str) -> str:
    """What stands in a field that TensorFlow has no default for."""
    return "" if OPTIMIZERS[type][name] is not None else {"momentum": "0.9"}.get(name, "0.01")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise GradstepError(f"{name} is '{text.strip()}'", hint="write a number") from None


def _scales(text: str) -> Iterator[tuple[str, float]]:
    for part in names_in(text):
        name, equals, factor = part.partition("=")
        if not name or not equals:
            raise GradstepError(f"'{part}' is no factor", hint="write VARIABLE=FACTOR")
        yield name, _number(name, factor)
