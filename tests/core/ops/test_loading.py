"""The op table is whole for whoever asks it, also while another thread is still loading it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ASKED_MEANWHILE = """
import sys, threading
from gradstep.core.ops.declare.table import find

found = []
asks = threading.Thread(target=lambda: found.append(find("Placeholder")))

class Meanwhile:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("gradstep.core.ops.catalogue.") and not asks.ident:
            asks.start()
            asks.join(0.5)  # long enough to answer, for one that does not wait for the rest

sys.meta_path.insert(0, Meanwhile())
find("NoSuchType")
asks.join()
print(found[0] is not None)
"""


@pytest.mark.slow
def test_a_thread_waits_for_another_that_loads_the_table() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ASKED_MEANWHILE],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "True\n", ran.stderr
