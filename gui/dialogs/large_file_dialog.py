"""The question before a file takes more memory than files do."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from gradstep.core.io.disk.memory_budget import DEFAULT, OverBudgetError, in_words
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.model.workspace import Workspace

WIDTH = 440


class LargeFileDialog(Dialog):
    """name: of the file; more: called if the user agrees."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        error: OverBudgetError,
        more: Callable[[], None],
        parent: QWidget | None,
    ) -> None:
        super().__init__(workspace, "largefile", "A large file", parent)
        self._more = more
        text = f"{name} needs {in_words(error.needed)} of memory. Open it anyway?"
        self.add_text(text).setObjectName("largefile.question")
        asked = f"Gradstep asks about files that need more than {in_words(DEFAULT)}."
        self.add_text(f"{error.what[:1].upper()}{error.what[1:]}. {asked}", "muted")
        free = _free()
        if free and free < error.needed:
            self.add_text(f"This machine has {in_words(free)} free.", "problem")
        self.setMinimumWidth(WIDTH)
        self.add_buttons("Open it anyway", careful=True)

    def apply(self) -> str:
        self._more()
        return ""


def _free() -> int:
    """Bytes of memory that nobody uses; 0 where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
