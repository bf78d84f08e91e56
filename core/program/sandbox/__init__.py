"""A process without network, files and secrets, for what a stranger wrote.

Parsers of foreign bytes run so, and Python that the user lets run this way:
`confine(Profile.READER)` in a process that was just started, before it has threads and before it
reads a foreign byte; `enter` and `close_door` for user code. `confinement.py` says what holds.
"""

from gradstep.core.program.sandbox.confinement import (
    close_door,
    confine,
    enter,
    is_confined,
    is_inside,
    why_not,
)
from gradstep.core.program.sandbox.sandbox_environment import ensure_clean, kept
from gradstep.core.program.sandbox.sandbox_profile import Access, Profile

__all__ = [
    "Access",
    "Profile",
    "close_door",
    "confine",
    "ensure_clean",
    "enter",
    "is_confined",
    "is_inside",
    "kept",
    "why_not",
]
