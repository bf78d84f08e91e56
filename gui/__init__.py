"""The window: Qt views that read frozen values and ask through commands.

`app.py` starts it. `model` is what all views read, `commands` what the user can do; `frame` is the
window, `canvas` the graph, `panels` the docks; `dialogs`, `look`, `automation`.
"""

from gradstep.gui.override_errors import guard_overrides
from gradstep.gui.unread_imports import leave_unread

guard_overrides()  # before any class of the window is made
leave_unread()
