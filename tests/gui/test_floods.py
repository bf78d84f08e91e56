"""Whatever the engine says, and however much: the window goes on answering."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.io.open_document import read
from gradstep.core.protocol.messages import Output
from gradstep.gui.automation.driver import Driver
from gradstep.gui.panels.output_panel import OutputPanel
from tests.bench.watched_window import Ticks

LONGEST = 0.1  # seconds in which the event loop may stand still
FLOODS = {
    "lines": "for i in range(8_000): print(i)",
    "one line": "for i in range(2_000): print('0123456789', end='')",
    "descriptor": "import os\n    for i in range(4): os.write(1, b'x' * 3_000_000)",
    # as no engine of ours would: straight into the stream of answers
    "forged": (
        "import gc, io; from gradstep.core.protocol import framing as wire\n"
        "    from gradstep.core.protocol.messages import Output, Progress\n"
        "    out = next(o for o in gc.get_objects() if isinstance(o, io.BufferedWriter)"
        " and o.fileno() > 2)\n"
        "    for i in range(500):\n"
        "        wire.write(out, Output(text='forged ' * 9 + '\\n'))\n"
        "        wire.write(out, Progress(text='p', done=i, total=500))"
    ),
}


def printing(driver: Driver, body: str, examples: Path) -> None:
    """The window on a document whose Python does that, stopped before it."""
    document = read(examples / "override_add.gradstep")
    source = f"def forward(c, k, d):\n    {body}\n    return c + k\n"
    item = CodeItem("custom_add", CodeKind.PYFUNC, source)
    driver.workspace.open_document(document_edits.set_code(document, item))
    driver.workspace.trust()
    driver.settle()
    driver.workspace.control("run_to", "e")
    driver.settle()


def longest_gap(driver: Driver) -> float:
    with Ticks(time.thread_time) as ticks:  # its own work; what else runs here does not count
        driver.workspace.control("continue_")
        driver.settle()
    assert driver.workspace.stop is not None
    assert driver.workspace.stop.error is None
    return ticks.longest


@pytest.mark.slow
def test_no_flood_stops_the_window(driver: Driver, examples: Path) -> None:
    driver.window.docks.by_id["output"].show()
    for name, body in FLOODS.items():
        printing(driver, body, examples)
        assert longest_gap(driver) < LONGEST, name
    panel = driver.window.docks.by_id["output"].panel
    assert isinstance(panel, OutputPanel)
    assert "forged" in panel.text.toPlainText()


@pytest.mark.parametrize("text", ["x" * 100_000, "0123456789\n" * 10_000])
def test_what_was_printed_is_kept_in_bounded_memory(driver: Driver, text: str) -> None:
    printed = driver.workspace.printed
    for _ in range(50):
        driver.workspace.bridge.event_received.emit(Output(text=text))
    assert sum(map(len, printed.pieces)) <= 1 << 20
    assert text.endswith(printed.pieces[-1])
