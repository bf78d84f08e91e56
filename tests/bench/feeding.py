"""Training on batches: a step of `gradstep train` beside a loop written by hand, and how soon the
debugger stands at any step of a long training.

    python -m tests.bench.feeding ROUNDS SECONDS [STEPS]

prints one JSON object: what targets.TRAINING names -> the ratio, or the seconds, in each round. The
two of one workload take turns in one process, on the same rows; before that, the losses of their
first steps are held against each other, on the same batches.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gradstep.core.cli.command_line import main
from gradstep.core.data.built_in_sets import SETS
from gradstep.core.data.row_order import row_order
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.protocol import messages as m
from gradstep.main import Gradstep
from tests.bench import batch_loops, tutorial_rows
from tests.bench.agreement import disagreement
from tests.bench.batch_loops import Order, Rows, Step
from tests.bench.environments import ROOT
from tests.bench.interleaving import Timer, calibrate, interleave
from tests.bench.ours import handed_over
from tests.bench.running import command
from tests.bench.workloads import w3, w4

SEED, COUNT, CHECKED = 7, 2_000, 4  # of the order; rows; steps
LONG, SOUGHT = 10_000, 40  # steps of a training, and how many of them are gone to
EXAMPLES = ROOT / "assets" / "examples"
_random = np.random.default_rng(12)


@dataclass(frozen=True)
class Contest:
    """path: of the document; fetches: the loss, and what else is asked for; columns: as --data has
    them. rows, start and by_hand: what the other one begins with, and makes."""

    path: Path
    fetches: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Rows
    start: batch_loops.Arrays
    by_hand: Callable[[Rows, batch_loops.Arrays, float], Step]
    rate: float

    @property
    def arguments(self) -> list[str]:
        """Of `gradstep train`."""
        fetched = ["--fetch", *self.fetches] if self.fetches else []
        batches = ["--batch", str(self.rows.batch), "--shuffle", str(SEED), "--drop-last"]
        return ["train", str(self.path), *fetched, "--data", *self.columns, *batches]

    def disagreement(self) -> str:
        """Where the losses of the first steps, on the same batches, differ; "" for nowhere."""
        count = len(self.rows.x)
        step = self.by_hand(
            replace(self.rows, order=lambda e: row_order(count, SEED, e)), self.start, self.rate
        )
        return disagreement([{"loss": step()} for _ in range(CHECKED)], self._losses())

    def _losses(self) -> list[dict[str, float]]:
        out = io.StringIO()
        with redirect_stdout(out):
            asked = ["--steps", str(CHECKED), "--every", "1", "--json"]
            assert main([*self.arguments, *asked], Gradstep()) == 0
        shown = json.loads(out.getvalue())["shown"]
        return [{"loss": next(iter(one["values"].values()))["data"]} for one in shown]

    def timers(self) -> dict[str, Timer]:
        return {
            "train": command(*self.arguments, count="--steps"),
            "hand": lambda steps: _seconds(self.by_hand(self.rows, self.start, self.rate), steps),
        }


def contests(folder: Path) -> dict[str, Contest]:
    pixels = _random.integers(0, 256, (COUNT, w3.INPUTS), np.uint8)
    points = _random.standard_normal((COUNT, 2)).astype(np.float32)
    return {
        "w1": _written(folder, tutorial_rows, points, 2, 32, batch_loops.tutorial),
        "w3": _written(folder, w3, pixels, 10, w3.BATCH, batch_loops.softmax_regression),
        "w4": _written(folder, w4, pixels, 10, w4.BATCH, batch_loops.perceptron),
        "softmax": _digits("softmax", (64,), batch_loops.digits, 0.5),
        "cnn": _digits("cnn", (8, 8, 1), batch_loops.convolutional, 0.02),
    }


def _written(
    folder: Path, workload: Any, x: np.ndarray, classes: int, batch: int, by_hand: Any
) -> Contest:
    """One whose document and rows are written to files first."""
    rate = workload.RATES["check"]
    plan, _, initial = handed_over(workload.ours, rate)
    path, rows = (folder / f"{by_hand.__name__}{end}" for end in (".gradstep", ".npz"))
    labels = _random.integers(0, classes, COUNT)
    np.savez(rows, x=x, labels=labels)
    first = {name: Constant(array) for name, array in initial.items()}
    gradstep_file.save(path, Document(graph=plan.graph, initial=first))
    scaled = x.dtype == np.uint8
    columns = (
        f"x=@{rows}:x{' | scale(1/255)' if scaled else ''}",
        f"labels=@{rows}:labels | one_hot({classes})",
    )
    floats = (x * (1 / 255)).astype(np.float32) if scaled else x
    fetches = (plan.fetches[0].short, *plan.targets)
    ready = Rows(floats, np.eye(classes, dtype=np.float32)[labels], batch, _own_order(COUNT))
    return Contest(path, fetches, columns, ready, workload.START, by_hand, rate)


def _digits(name: str, shape: tuple[int, ...], by_hand: Any, rate: float) -> Contest:
    """An example's document, on all digits of the set."""
    path = EXAMPLES / f"{name}_digits.gradstep"
    images, labels = (SETS["digits"].parts[part] for part in ("images", "labels"))
    columns = ("images=@digits:images | scale(1/16)", "labels=@digits:labels | one_hot(10)")
    x = (images * (1 / 16)).astype(np.float32).reshape(-1, *shape)
    ready = Rows(x, np.eye(10, dtype=np.float32)[labels], 32, _own_order(len(x)))
    initial = read(path).initial
    start = {name: initial[name].array for name in _TRAINED[name]}
    return Contest(path, (), columns, ready, start, by_hand, rate)


_LAYERS = (("conv1", "kernel"), ("conv2", "kernel"), ("dense", "weights"))
_TRAINED = {
    "softmax": ("softmax/weights", "softmax/bias"),
    "cnn": [f"{scope}/{one}" for scope, weights in _LAYERS for one in (weights, "bias")],
}


def _own_order(count: int) -> Order:
    """As one shuffles by hand."""
    return lambda epoch: np.random.default_rng((SEED, epoch)).permutation(count)


def _seconds(step: Step, steps: int) -> float:
    step()
    start = time.process_time()
    for _ in range(steps):
        step()
    return time.process_time() - start


def _in_turns(timers: dict[str, Timer], rounds: int, seconds: float) -> dict[str, list[float]]:
    """As `interleave`, with as many steps of each as take the loop by hand so long: of a command
    what opening the document takes is subtracted, so that a few steps would tell nothing."""
    steps = calibrate(timers["hand"], seconds)
    timers["train"](steps)
    found: dict[str, list[float]] = {name: [] for name in timers}
    for number in range(rounds):
        for name in sorted(timers, reverse=bool(number % 2)):
            found[name].append(timers[name](steps) / steps)
    return found


def opened(name: str) -> EngineService:
    """An engine with an example's network, on all digits of the set."""
    columns = {
        "images:0": "@digits:images | scale(1/16)",
        "labels:0": "@digits:labels | one_hot(10)",
    }
    data = Dataset(columns, shuffle=SEED)
    document = replace(read(EXAMPLES / f"{name}_digits.gradstep"), data=data)
    service = EngineService(CpuOnly(), lambda event: None)
    service.handle(m.Open(), [gradstep_file.to_bytes(document)])
    return service


def panel_costs(rounds: int, seconds: float) -> dict[str, list[float]]:
    """What a step costs where the panel draws the loss, against one of which it is told nothing:
    two engines in turns. What else it follows takes a share of the time that is fixed."""
    loss = "loss:0"
    drawn = m.Train(steps=1, curves=[f'x["{loss}"]'], losses=[loss])
    found = {}
    for name in _TRAINED:
        timers = {"bare": _timer(name, m.Train(steps=1)), "drawn": _timer(name, drawn)}
        times = interleave(timers, rounds, seconds)
        pairs = zip(times["drawn"], times["bare"], strict=True)
        found[f"panel {name}"] = [one / other for one, other in pairs]
    return found


def _timer(name: str, wish: m.Train) -> Timer:
    """CPU seconds of so many steps of a training that goes on."""
    service = opened(name)

    def timer(steps: int) -> float:
        asked = msgspec.structs.replace(wish, steps=steps)
        start = time.process_time()
        made, _ = service.handle(asked)
        assert isinstance(made, m.Trained)
        return time.process_time() - start

    return timer


def seeking(steps: int) -> list[float]:
    """CPU seconds until the debugger stands at the end of a step: the slowest of some that lie
    anywhere in a training of so many, as the window asks for them."""
    service = opened("cnn")
    made, _ = service.handle(m.Train(steps=steps, curves=['x["loss:0"]'], losses=["loss:0"]))
    assert isinstance(made, m.Trained)
    found = []
    for run in np.random.default_rng(5).integers(0, steps, SOUGHT):
        start = time.process_time()
        there, _ = service.handle(m.Control(command="run_to", target=f"{run}:{made.stopped.step}"))
        found.append(time.process_time() - start)
        assert isinstance(there, m.Stopped)
        assert there.run == run
    return [max(found)]


def measure(rounds: int, seconds: float, steps: int = LONG) -> dict[str, list[float]]:
    """steps: of the training in which steps are gone to; 0 for the loops by hand alone."""
    found = {"seek": seeking(steps), **panel_costs(rounds, seconds)} if steps else {}
    with tempfile.TemporaryDirectory() as folder:
        for name, contest in contests(Path(folder)).items():
            if wrong := contest.disagreement():
                raise SystemExit(f"{name}: train and the loop by hand differ in {wrong}")
            times = _in_turns(contest.timers(), rounds, min(4 * seconds, 0.4))
            pairs = zip(times["train"], times["hand"], strict=True)
            found[f"train {name}"] = [ours / theirs for ours, theirs in pairs]
    return found


if __name__ == "__main__":
    json.dump(measure(int(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:])), sys.stdout)
