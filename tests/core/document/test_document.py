"""The record of a document stands by itself: nothing that derives or runs is loaded for it."""

from __future__ import annotations

import subprocess
import sys

_LATE = ("core.engine", "core.ops", "core.autodiff.reverse.differentiate", "core.debug.motion")


def test_a_document_is_there_before_anything_that_works_on_one() -> None:
    """Every process that reads or shows one starts with it."""
    program = (
        "import sys, gradstep.core.document.document; "
        f"late = {tuple(f'gradstep.{name}' for name in _LATE)!r}; "
        "print(*(name for name in sys.modules if name.startswith(late)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")
