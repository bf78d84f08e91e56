"""What only the window, or its canvas, can do, by the names that it is asked for.

Workspace.ask_window asks; gradstep.gui.frame.window_commands and
gradstep.gui.canvas.interact.canvas_requests answer. Dialogs have a table of their own,
gradstep.gui.actions.dialog_table.
"""

from __future__ import annotations

from typing import Literal

FrameRequest = Literal[
    "new", "new_window", "open", "restore", "events", "save", "save_as", "export", "close", "quit",
    "reset_layout", "palette", "find", "query", "console", "edit_value", "gradient", "code", "log",
    "example", "smallest", "exporter",
]  # fmt: skip
CanvasRequest = Literal[
    "fit", "fit_selection", "show_selected", "reveal", "current", "zoom_in", "zoom_out", "zoom_100",
    "arrange", "align_row", "align_column", "duplicate", "paste", "rename", "add", "wire",
    "run_after", "next_wire", "change_type",
    "toggle_scope", "open_scopes", "collapse_scopes", "minimap", "pictures",
]  # fmt: skip
WindowRequest = FrameRequest | CanvasRequest

# Panels that others bring to the front; that there are such, a test sees.
ShownPanel = Literal[
    "data",
    "device_diff",
    "gradients",
    "inspector",
    "note",
    "outline",
    "precision",
    "profile",
    "queries",
    "sessions",
    "sweep",
    "tensor",
    "training",
    "watches",
]
