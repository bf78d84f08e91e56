"""What sessions came by is told in as many bytes as it takes once, and read as it was."""

from __future__ import annotations

import numpy as np

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.host import course_bytes
from gradstep.core.host.session_restore import courses_of
from gradstep.core.ops.build.builder import GraphBuilder


def test_what_branches_have_in_common_is_told_once() -> None:
    b = GraphBuilder()
    b.one("Neg", b.placeholder("x", shape=(5000,)), name="y")
    program = Program(b.build(), b.build(), targets=("y",), feeds={"x:0": np.zeros(5000, "f4")})
    threads, given = Scheduler(program), np.arange(5000, dtype=np.float32)
    for _ in range(3):
        threads.inject({"x": given})
        threads.command("step")
        threads.command("step_back")
    courses = courses_of(Sessions({"main": threads}))
    (buffer,) = course_bytes.written(courses)
    told = course_bytes.read(buffer).by_name["main"]
    assert [len(branch.changes) for branch in told.branches] == [0, 1, 2, 3]
    assert told.branches[1].changes[0] is told.branches[3].changes[0]
    assert [c.values["x"].tolist() for c in told.changes] == [given.tolist()] * 3
    assert len(buffer) < 3.5 * given.nbytes
