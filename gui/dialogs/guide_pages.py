"""The pages of the guide: Markdown in assets/help, with actions named as the menus have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gradstep.gui.actions.action_record import Action
from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.model.settings import state_folder

FOLDER = ASSETS / "help"
_PLACE = re.compile(r"\{([a-z_.]+)\}")
_CODE = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """One page. file: its name in assets/help; buttons: ids of actions that it offers at its end.

    In its text `{menu.action}` stands for an action, and `{folder}` for that of the log.
    """

    file: str
    buttons: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self._source().partition("\n")[0].removeprefix("# ")

    def parts(self, actions: ActionSet) -> Iterator[tuple[str, bool]]:
        """The text under the title, in pieces: Markdown, or code that can be copied (True)."""
        text = _PLACE.sub(lambda found: _named(found[1], actions), self._source())
        _, _, body = text.partition("\n")
        for place, piece in enumerate(_CODE.split(body)):
            if piece.strip():
                yield piece.strip("\n"), place % 2 == 1

    def _source(self) -> str:
        return (FOLDER / f"{self.file}.md").read_text(encoding="utf-8")


FIRST_STEPS = Page("first_steps", ("help.tutorial", "help.shortcuts"))
PYTORCH = Page("pytorch", ("help.exporter_torch", "file.open"))
MESSAGES = Page("messages", ("help.log", "help.doctor"))
PAGES = (
    FIRST_STEPS,
    PYTORCH,
    Page("jax", ("help.exporter_jax", "file.open")),
    Page("onnx", ("file.open",)),
    Page("tensorflow", ("file.open",)),
    MESSAGES,
)


def _named(name: str, actions: ActionSet) -> str:
    """What stands in a page in place of a name in braces."""
    return str(state_folder()) if name == "folder" else _menu_words(actions.row(name))


def _menu_words(row: Action) -> str:
    key = f" ({row.shortcut})" if row.keys else ""
    return f"**{row.menu} > {row.title.rstrip('…')}**{key}"
