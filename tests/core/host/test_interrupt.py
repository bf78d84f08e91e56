"""Ctrl+C in the terminal's debugger."""

from __future__ import annotations

import os
import signal
from threading import Timer

from gradstep.core.cli.console.console import Console
from gradstep.core.cli.debug import interact
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.session_restore import begin
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder


def test_it_pauses_a_loop_without_end() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        tf.while_loop(lambda j: j >= 0.0, lambda j: j + 0.0, [1.0], name="forever")
    graph = builder.build()
    program = Program(graph=graph, forward=graph, fetches=(TensorRef("forever/Exit"),))
    said: list[str] = []
    lines = iter(["continue", "quit"])

    def ask(_: str) -> str:
        line = next(lines)
        if line == "continue":
            Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return line

    before = signal.getsignal(signal.SIGINT)
    console = Console(begin(program, NumpyBackend()), lambda name: program)
    interact(console, ask, said.append)
    assert "[pause]" in said[2]
    assert "forever/While" in said[2]
    assert signal.getsignal(signal.SIGINT) is before
