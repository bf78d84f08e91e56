"""A block's settings as fields of a form: each kind of value has the widget that suits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from gradstep.core.layers.block_settings import Setting
from gradstep.gui.look.plain_text import plain


@dataclass(frozen=True)
class SettingField:
    """widget: to be put into a form. read: its value; raises GradstepError for a wrong one."""

    widget: QWidget
    read: Callable[[], Any]


def field_of(
    name: str, setting: Setting, offered: Sequence[str], changed: Callable[[], object]
) -> SettingField:
    """A field at the setting's default. offered: texts to choose from where any text may stand.
    changed: called when the user has edited it."""
    field = _made(name, setting, offered, changed)
    field.widget.setObjectName(f"block_dialog.{name}")
    field.widget.setAccessibleName(title_of(name))
    field.widget.setToolTip(plain(f"{setting.doc}: {setting.wanted}"))
    return field


def title_of(name: str) -> str:
    """A setting's name in words: `Kernel size`."""
    return name.replace("_", " ").capitalize()


def _made(
    name: str, setting: Setting, offered: Sequence[str], changed: Callable[[], object]
) -> SettingField:
    if setting.choices or setting.names:
        return _choices(setting, offered, changed)
    if isinstance(setting.default, bool):
        box = QCheckBox()
        box.setChecked(setting.default)
        box.toggled.connect(changed)
        return SettingField(box, box.isChecked)
    line = QLineEdit(setting.written(setting.default))
    line.textChanged.connect(changed)
    return SettingField(line, lambda: setting.read(name, line.text()))


def _choices(
    setting: Setting, offered: Sequence[str], changed: Callable[[], object]
) -> SettingField:
    """What may be chosen, or anything where the setting names something in the graph."""
    box = QComboBox()
    box.addItems(setting.choices or tuple(offered))
    box.setEditable(bool(setting.names))
    box.currentTextChanged.connect(changed)
    return SettingField(box, box.currentText)
