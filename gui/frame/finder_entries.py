"""What the finder offers: every action (the command palette), or every node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import filterfalse, islice
from threading import Lock
from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import parents
from gradstep.gui import commands
from gradstep.gui.actions.action_record import Action
from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.canvas.interact.name_index import NameIndex
from gradstep.gui.dialogs.finder import Entry, Finder, Listed
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace


def command_palette(workspace: Workspace, actions: ActionSet, window: QWidget) -> Finder:
    """All actions with their keys, recently used ones first, those that cannot be done now last."""
    actions.refresh()
    used = {id: place for place, id in enumerate(settings().used_actions)}
    rows = [row for row, _ in actions if row.id != "view.palette"]
    rows.sort(key=lambda row: (not actions[row.id].isEnabled(), used.get(row.id, len(used))))

    def run(row: Action) -> None:
        settings().add_used_action(row.id)
        actions.run(row.id)

    entries = [
        Entry(
            f"{row.menu}: {actions[row.id].text().rstrip('…')}",
            lambda row=row: run(row),  # type: ignore[misc]
            row.shortcut,
            row.tip,
            actions[row.id].isEnabled(),
        )
        for row in rows
    ]
    return Finder(workspace.theme, Listed(entries), "Type a command", "palette", window)


def node_finder(workspace: Workspace, window: QWidget) -> Finder:
    """All nodes and scopes by name and type; choosing one goes there."""
    nodes = _Nodes(workspace)
    finder = Finder(workspace.theme, nodes, "Find a node", "node_finder", window)
    nodes.prepare(Background(finder))  # while the first key is still to come
    return finder


class _Nodes:
    """An entry is made when it is found: there may be very many."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._graph = workspace, workspace.shown
        self._finding = Lock()  # by whoever needs it first: a key does not look beside who looks
        self._found: _Searched | None = None

    def prepare(self, background: Background) -> None:
        """Bring all names together beside the window's thread."""
        background.run(self._search, lambda _: None, self._workspace.complain)

    def _search(self) -> _Searched:
        with self._finding:
            if self._found is None:
                self._found = _Searched.of(self._graph)
            return self._found

    def find(self, typed: str, most: int) -> Sequence[Entry]:
        few = [] if typed.strip() else [*islice(self._graph.operations, most)]
        if len(few) == most:
            return [*map(self._entry, few)]
        names, letters = self._search()
        places = letters.best(typed, most) if typed.strip() else range(min(most, len(names)))
        return [self._entry(names[place]) for place in places]

    def _entry(self, name: str) -> Entry:
        kind = self._graph[name].type if name in self._graph else "scope"
        return Entry(name, partial(commands.reveal, self._workspace, name), kind)


class _Searched(NamedTuple):
    """names: of operations and scopes."""

    names: Sequence[str]
    letters: NameIndex

    @classmethod
    def of(cls, graph: Graph) -> _Searched:
        own = graph.operations
        around = dict.fromkeys(name.rpartition("/")[0] for name in own)
        scopes = {"": None}
        for last in around:
            if last.rpartition("/")[0] not in scopes:
                scopes.update(dict.fromkeys(parents(last)))
            scopes[last] = None
        del scopes[""]
        names = [*own, *filterfalse(own.__contains__, scopes)]
        return cls(names, NameIndex(names))
