"""Modules that PySide6 is kept from reading: it would look through the source of each import.

It looks for its own name there, for the module could say `from __feature__ import snake_case`,
which none of ours does. That took a tenth of the time until the window can be used, and left every
line of every module in linecache, 20 MB.
"""

from __future__ import annotations

import sys

# Of PySide6 6.5 and later; private, and nothing is lost if gone.
_READER = "shibokensupport.feature"
_QUESTION = "_mod_uses_pyside"  # whether a module does, by its source


def leave_unread() -> None:
    """Those that are imported from here on. PySide6 is to be imported already."""
    reader = sys.modules.get(_READER)
    if hasattr(reader, _QUESTION):
        setattr(reader, _QUESTION, lambda module: False)
