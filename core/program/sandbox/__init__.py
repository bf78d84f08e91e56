"""A process without network, files and secrets, for what a stranger wrote: parsers of foreign
bytes, and Python that the user lets run this way.

`confine(Profile.READER)` in a process that was just started, before it has threads and before it
reads a foreign byte; nothing leads back. The engine does the same for user code (`enter`,
`close_door`), in bubblewrap where that is installed. What holds is a set of mechanisms, of which
each does what it can, on top of the others:

    files       Landlock: what Python and Gradstep consist of can be read, one temporary folder can
                be written. In bubblewrap nothing else is even there.
    network     seccomp: no socket can be made. Landlock from ABI 4 on: no TCP. In bubblewrap there
                is no interface.
    processes   seccomp: nothing can be started, signalled or traced. In bubblewrap others are not
                even seen.
    secrets     the environment holds what `environment.kept` names, and nothing else.
    resources   limits of memory, of a file's size, no core files; no_new_privs.

Not kept away: that a file exists and its size can be found out by its path where there is no
bubblewrap; time and processor are not limited (Restart engine ends it); what runs in the process
can send any answer to the window, which reads it as a stranger's.
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
