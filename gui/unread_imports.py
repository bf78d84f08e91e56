"""Imports that PySide6 is kept from watching: it would read the source of each module.

It looks for its own name there, for the module could say `from __feature__ import snake_case`,
which none of ours does. That took a tenth of the time until the window can be used, and left every
line of every module in linecache, 20 MB. To look at a statement takes seven times as long as to
import a module that is there, and NumPy and ours have such statements in functions.
"""

from __future__ import annotations

import builtins

# Of PySide6 6.5 and later; private, and nothing is lost if gone.
_BEFORE = "__orig_import__"  # what imported before PySide6 watched


def leave_unread() -> None:
    """All that is imported from here on. PySide6 is to be imported already."""
    if hasattr(builtins, _BEFORE):
        setattr(builtins, "__import__", getattr(builtins, _BEFORE))  # noqa: B010
