"""Cases that need what comes in a later version: loops, queues."""

from __future__ import annotations

from tests.oracle.table import Case, checks

WHY = {
    "while_loop_gradients": "while loops: a later version",
    "queues": "queues: a later version",
}
# Checked elsewhere: what the case says about its GraphDef files.
FILES = ("graph_file", "graph_file_forward")


@checks(*WHY)
def later(case: Case) -> None:
    for entry in case.recorded:
        if entry not in ("case", "topic", "tf_version", *FILES):
            case.skip(WHY[case.name], entry)
