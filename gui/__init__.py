"""The window: Qt views that read frozen values and ask through commands.

`app.py` starts it. From below: `look`; `model`, which all views read; `commands`, what the user can
do; `actions`, what menus and keys offer; `canvas`, the graph, `panels`, the docks, and `dialogs`;
`frame`, the window; `automation`, which uses it.
"""

from gradstep.gui.override_errors import guard_overrides
from gradstep.gui.unread_imports import leave_unread

guard_overrides()  # before any class of the window is made
leave_unread()
