"""A sweep by hand: settings typed, a process killed, a setting that fails, a run opened."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from gradstep.core.io.open_document import read

pytestmark = pytest.mark.xvfb

RATES = [f"{n / 20:g}" for n in range(1, 32)]
STEPS = 500


def children(pid: int) -> list[int]:
    """The processes that one has begun, as Linux has them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def workers(user) -> list[int]:
    """The processes that make the runs."""
    process = user.workspace.sweep._process
    return [] if process is None else [p for p in children(process.pid) if is_worker(p)]


def is_worker(pid: int) -> bool:
    return b"--worker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_of_32_runs_one_fails_one_is_made_again_and_one_is_opened(user, examples, tmp_path) -> None:
    user.open(examples / "digits_in_batches.gradstep")
    sweep = user.workspace.sweep
    user.menu("Run", "Sweep…")
    user.type_into("sweep_dialog.settings", f"learning_rate={','.join([*RATES, 'words'])}")
    user.type_into("sweep_dialog.steps", str(STEPS))
    user.type_into("sweep_dialog.workers", "2")
    user.type_into("sweep_dialog.folder", str(tmp_path / "swept"))
    assert user.text("sweep_dialog.count") == "32 runs"
    user.click("sweep_dialog.apply")
    user.wait(lambda: sweep.seen is not None and workers(user), "runs to begin")
    os.kill(workers(user)[0], signal.SIGKILL)
    user.wait(lambda: sweep.is_idle, "the sweep to end")
    user.settle()
    said = user.text("sweep.said")
    assert said.startswith("32 of 32 runs · 1 failed · best ")
    table = user.table("sweep.table")
    assert table[-1][1] == "words"
    assert "number" in table[-1][-1]
    assert all(float(row[2]) < 1 for row in table[:-1])
    user.take_picture("sweep")
    user.click_row("sweep.table", 0)
    user.click("sweep.show_run")
    training = user.workspace.training
    user.wait(lambda: training.made == STEPS and not training.busy, "the run to be trained again")
    user.settle()
    (optimizer,) = user.workspace.document.optimizers
    assert f"{optimizer.hyper['learning_rate']:g}" == table[0][1]
    assert user.workspace.stop.run == STEPS - 1
    assert float(user.value("loss:0")) == pytest.approx(float(table[0][2]), rel=1e-3)
    assert read(user.workspace.path).data == user.workspace.document.data
    user.take_picture("sweep-run")
