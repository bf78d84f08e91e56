"""Which readers a file of TensorFlow's is for: it says what is the oldest, and which are not to.

The version that this reader has of each kind of file is that of the TensorFlow whose files it was
held against. Nothing that is read here hangs on the version of who wrote a file: TensorFlow asks
for it where scalars stand for vectors, as before version 9, and where an operation is gone.
"""

from __future__ import annotations

from typing import Any

from gradstep.core.errors import GradstepError

GRAPH = 2474  # of a GraphDef, in TensorFlow 2.21
CHECKPOINT = 1  # of a checkpoint's index, and of one of the first version


def require_readable(versions: Any, own: int, subject: str) -> None:
    """Raises GradstepError (FileError) where a VersionDef does not let a reader of version `own`
    read. subject: what the sentence that says so begins with."""
    if versions.min_consumer > own:
        why = f"wants a reader of version {versions.min_consumer} or newer, and this one is {own}"
    elif own in versions.bad_consumers:
        why = f"is not to be read by readers of version {own}, as this one is"
    else:
        return
    raise GradstepError(
        f"{subject} {why}",
        kind="FileError",
        hint="use a newer Gradstep, or save it again with another version of TensorFlow",
    )
