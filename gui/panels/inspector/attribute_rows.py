"""The inspector's attributes: an editor each, and the fed or initial value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QInputDialog, QMenu, QWidget

from gradstep.core.data.value_text import is_quick
from gradstep.core.document.dataset import short_text
from gradstep.core.document.placeholder_substitution import fed_outputs
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.ops.declare.table import OpDef, find
from gradstep.gui import commands
from gradstep.gui.actions.action_record import can_branch
from gradstep.gui.actions.dialog_table import VALUE, open_dialog
from gradstep.gui.look.plain_text import add_row, plain
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.model.error_words import words
from gradstep.gui.model.tried_document import tried
from gradstep.gui.model.value_place import ValuePlace, attribute_place, fed_place, place_of
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.attribute_editors import (
    Editor,
    LineEditor,
    Refuse,
    attr_editor,
    text_editor,
)
from gradstep.gui.panels.inspector.attribute_text import (
    EDITABLE,
    array_text,
    attr_text,
    items_like,
)
from gradstep.gui.panels.inspector.fact_rows import FactRow, FactRows, line_of
from gradstep.gui.panels.widgets.small_labels import Link, Text, ThemeSource

_VALUED = {"Placeholder": "Fed", "VariableV2": "Initial", "VarHandleOp": "Initial"}


Content = Editor | Callable[[], QWidget]


class LineLink(QWidget):
    """A link of its own line, and the menu that it may open."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__()
        self._act: Callable[[], object] = lambda: None
        self._menu: QMenu | None = None
        self.link = Link(theme, "", name, "muted")
        self.link.clicked.connect(lambda: self._act())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(self.link)
        row.addStretch(1)

    def show_link(self, text: str, act: Callable[[], object]) -> None:
        self.link.say(text)
        self._act = act

    def new_menu(self) -> QMenu:
        """An empty one."""
        if self._menu is None:
            self._menu = QMenu(self.link)
            self._menu.setObjectName(f"{self.link.objectName()}.menu")
        self._menu.clear()
        return self._menu


class EditorAndLink(QWidget):
    """An editor, and beside it a link that does something to the node that `node` names."""

    def __init__(
        self, theme: ThemeSource, editor: QWidget, text: str, act: Callable[[str], object]
    ) -> None:
        super().__init__()
        self.editor, self.node = editor, ""
        link = Link(theme, text, "inspector.value.dialog")
        link.clicked.connect(lambda: act(self.node))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(editor)
        row.addWidget(link)
        if not isinstance(editor, LineEditor):
            row.addStretch(1)


class Attributes(FactRows):
    """Attributes that hardly anybody sets are folded away while they are as declared."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(lambda: workspace.theme)
        self._workspace = workspace
        self._unfolded = False

    def show_node(self, op: Operation) -> None:
        """Have an editor for each attribute; hidden when there are none."""
        definition = find(op.type)
        names = _names(op, definition)
        self.show_rows([*self._rows(op, definition, names)])
        self.setVisible(bool(names) or op.type in _VALUED or bool(self._fed_outputs(op)))

    def _rows(self, op: Operation, definition: OpDef | None, names: list[str]) -> Iterator[FactRow]:
        rare = [name for name in names if _is_rare(op, definition, name)]
        shown = names if self._unfolded else [name for name in names if name not in rare]
        for name in shown:
            yield _row(name, self._editor(op, definition, name))
        if op.type in _VALUED:
            yield _row(_VALUED[op.type], self._value(op))
        for index in self._fed_outputs(op):
            yield _row(f"Fed :{index}" if index else "Fed", self._fed(op, index))
        if can_branch(self._workspace) and (able := self._able(op, definition, shown)):
            yield _row("", self._on_branch(op.name, able))
        if rare and not self._unfolded:
            yield _row("", self._more(op, len(rare)))

    def _more(self, op: Operation, count: int) -> Editor:
        text = self.tr("{} more attributes ▸").format(count) if count > 1 else self.tr("1 more ▸")

        def unfold() -> None:
            self._unfolded = True
            self.show_node(op)

        make = partial(LineLink, self._theme, "inspector.attr.more")
        return Editor("more", make, lambda line: line.show_link(text, unfold))

    def _able(self, op: Operation, definition: OpDef | None, names: list[str]) -> dict[str, Any]:
        """The attributes that are written in a line, as the branch that is shown has them."""
        op = tried(self._workspace).graph.operations.get(op.name, op)
        declared = {} if definition is None else definition.attrs
        values = {name: op.attrs.get(name, declared.get(name)) for name in names}
        return {name: value for name, value in values.items() if _is_line(value)}

    def _on_branch(self, node: str, values: dict[str, Any]) -> Editor:
        """The way to give an attribute another value on a branch of the runs alone."""

        def choose(line: LineLink) -> None:
            menu = line.new_menu()
            for name, value in values.items():
                row = add_row(menu, f"{name}…")
                row.triggered.connect(
                    lambda _=False, name=name, value=value: self._try(node, name, value)
                )
            menu.popup(line.link.mapToGlobal(line.link.rect().bottomLeft()))

        def fill(line: LineLink) -> None:
            line.show_link(self.tr("try on a branch ▾"), lambda: choose(line))

        return Editor("branch", partial(LineLink, self._theme, "inspector.attr.branch"), fill)

    def _try(self, node: str, name: str, value: Any) -> None:
        title, asked = self.tr("Try on a branch"), plain(f"{node}.{name}")
        text, given = QInputDialog.getText(self, title, asked, text=attr_text(value))
        if given and text.strip():
            commands.edit_on_branch(self._workspace, "set", node, name, text.strip())

    def _editor(self, op: Operation, definition: OpDef | None, name: str) -> Content:
        like = definition.attrs.get(name) if definition is not None else None
        value = op.attrs.get(name, None if isinstance(like, type) else like)
        if name == "token":
            return partial(self._code_link, str(value))
        if op.type == "Const" and name == "value":
            return self._value(op)
        if isinstance(value, Constant) and not _is_large(value):
            return self._typed(_attribute_place(op, name, value), f"inspector.attr.{name}")
        if isinstance(value, Constant | Loop | Unread):
            return self._fixed("" if value is None else attr_text(value))

        def change(new: Any, refuse: Refuse) -> bool:
            return self._edited(refuse, commands.set_attr, op.name, name, new)

        kind = items_like(name) if isinstance(value, tuple) or like is tuple else None
        kind = kind or (like if value is None else value)
        choices = definition.choices.get(name, ()) if definition is not None else ()
        title, complain = f"inspector.attr.{name}", self._workspace.complain
        return attr_editor(self._theme, title, op.name, value, kind, change, complain, choices)

    def _edited(self, refuse: Refuse, command: Callable[..., object], *arguments: Any) -> bool:
        """Give a command that edits, and hand on why it refuses; whether anything was edited."""
        before = self._workspace.document

        def hear(level: str, text: str) -> None:
            if level == "error":
                refuse(text)

        heard = self._workspace.message.connect(hear)
        try:
            command(self._workspace, *arguments)
        finally:
            self._workspace.message.disconnect(heard)
        return self._workspace.document is not before

    def _value(self, op: Operation) -> Content:
        """The fed or initial value, or a constant's: edited in place when small, in a dialog when
        not."""
        rows = self._workspace.document.columns.get(str(op.output()))
        if rows is not None:
            return partial(self._from_data, rows)
        place = place_of(self._workspace, op)
        name = "inspector.attr.value" if op.type == "Const" else "inspector.value"
        return self._beside_edit(
            self._written(place) if _is_large(place.value) else self._typed(place, name), op.name
        )

    def _beside_edit(self, editor: Editor, node: str) -> Editor:
        """An editor, and beside it the way to the dialog."""

        def make() -> QWidget:
            return EditorAndLink(self._theme, editor.make(), self.tr("Edit…"), self._ask)

        def fill(line: EditorAndLink) -> None:
            line.node = node
            editor.fill(line.editor)

        return Editor(f"{editor.kind} beside a link", make, fill)

    def _from_data(self, rows: str) -> QWidget:
        """Where the rows come from that it is fed, in the place of a value; the way there."""
        link = Link(self._theme, self.tr("Data…"), "inspector.value.data")
        link.clicked.connect(lambda: self._workspace.ask_window("show", "data"))
        said = self._fixed(short_text(rows))
        said.fill(text := said.make())
        return line_of(text, link)

    def _written(self, place: ValuePlace) -> Editor:
        return self._fixed("" if place.value is None else array_text(place.value.array))

    def _typed(self, place: ValuePlace, name: str) -> Editor:
        """A line for numbers, a generator or a file."""

        def change(text: str, refuse: Refuse) -> bool:
            def refused(error: GradstepError) -> None:
                refuse(words(error))

            edited = self._edited(refuse, commands.enter_value, place, text, refused)
            return edited or not is_quick(text)

        text = "" if place.value is None else array_text(place.value.array)
        hint = self.tr("nothing yet, such as [1, 2] or @FILE.npy")
        complain = self._workspace.complain
        return text_editor(self._theme, name, place.name, text, change, complain, hint)

    def _fed_outputs(self, op: Operation) -> Sequence[int]:
        """Those that are to be fed; nothing in a loop can be."""
        return fed_outputs(op) if op.name in self._workspace.document.graph else ()

    def _fed(self, op: Operation, index: int) -> Editor:
        """What is fed in place of what `op` would give; of any shape, where its type is unknown."""
        ref = op.output(index)
        place = fed_place(self._workspace, ref)
        if _is_large(place.value):
            return self._written(place)
        return self._typed(place, f"inspector.fed.{ref.index}")

    def _code_link(self, token: str) -> QWidget:
        link = Link(self._theme, token, "inspector.token", "override", code=True)
        link.clicked.connect(lambda: self._workspace.ask_window("code", token))
        if token in self._workspace.document.code:
            return line_of(link)
        link.setToolTip(self.tr("Write this function"))
        missing = Text(self._theme, "problem")
        missing.set_text(self.tr("missing"))
        return line_of(link, missing)

    def _fixed(self, text: str) -> Editor:
        make = partial(Text, self._theme, "text", mono(12))
        return Editor("words", make, lambda label: label.set_text(text))

    def _ask(self, name: str) -> None:
        self._workspace.select([name])
        open_dialog(self._workspace, VALUE)


_RARE = frozenset(
    "container shared_name debug_name allowed_devices use_locking validate_shape "
    "bad_indices_policy incompatible_shape_error grad_a grad_b data_format use_nesterov".split()
)
_OF_FUNCTIONS = frozenset(("Tout", "shapes"))  # said by the rows "Type" and "Inputs"


def _row(caption: str, content: Content) -> FactRow:
    """A row that is filled with every node; one whose content is a way to make it is made anew."""
    if isinstance(content, Editor):
        return FactRow(caption, object(), content.make, "", content.fill, content.kind)
    return FactRow(caption, object(), content)


def _is_large(value: Constant | None) -> bool:
    return value is not None and value.array.size > EDITABLE


def _is_line(value: Any) -> bool:
    """Whether an attribute's value is written in a line."""
    if isinstance(value, Loop | Unread | type | None):
        return False
    return not (isinstance(value, Constant) and _is_large(value))


def _attribute_place(op: Operation, name: str, value: Constant) -> ValuePlace:
    return attribute_place(op, name, TensorType(DType.of(value.array.dtype)))


def _names(op: Operation, definition: OpDef | None) -> list[str]:
    """Attributes to show: the declared ones, then others that the operation has, but those that
    follow from its inputs."""
    declared = list(definition.attrs) if definition is not None else []
    known = {*declared, *(definition.type_attrs if definition is not None else ())}
    return declared + [n for n in op.attrs if n not in known and not n.startswith("_")]


def _is_rare(op: Operation, definition: OpDef | None, name: str) -> bool:
    """Whether the row is folded away: nobody touched it, or other rows say the same."""
    if op.type.startswith("PyFunc"):
        return name in _OF_FUNCTIONS and name in op.attrs
    declared = definition.attrs.get(name) if definition is not None else None
    return name in _RARE and op.attrs.get(name, declared) == declared
