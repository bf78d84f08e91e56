"""What is to be reached: every row of the table, in its order. Smaller is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.implementations import IMPLEMENTATIONS, Threads


@dataclass(frozen=True)
class Ratio:
    """Time of a step of `ours` over that of `peer`, in the same run."""

    workload: str
    ours: str
    peer: str
    target: float
    threads: Threads = "one"

    @property
    def name(self) -> str:
        first, second = (IMPLEMENTATIONS[x].title for x in (self.ours, self.peer))
        return f"{TITLES[self.workload]}{THREADS[self.threads]}: {first} / {second}"


@dataclass(frozen=True)
class Measure:
    """A number by itself, in `unit`."""

    key: str
    name: str
    unit: str
    target: float


TITLES = {
    "w1": "W1 tutorial net",
    "w2": "W2 1,000 elementwise ops",
    "w3": "W3 softmax regression",
    "w4": "W4 multilayer perceptron",
    "w5": "W5 convolutional net",
    "w6": "W6 LSTM, unrolled",
    "w7f": "W7f memory-bound, forward",
    "w7": "W7 memory-bound",
    "w8": "W8 embedding gradient",
    "w9": "W9 ResNet-50 input gradient",
    "w10": "W10 DCGAN step",
    "w11": "W11 WGAN-GP critic step",
    "w12": "W12 training graph, 10,000 ops",
}
THREADS: Mapping[Threads, str] = {"one": "", "default": ", all cores"}  # after a title

RATIOS = (
    Ratio("w1", "session", "torch", 0.10),
    Ratio("w1", "session", "jax", 1.0),
    Ratio("w1", "fast", "raw", 1.02),
    Ratio("w2", "fast", "raw", 1.02),
    Ratio("w4", "fast", "raw", 1.02),
    Ratio("w1", "fast", "torch", 0.07),
    Ratio("w1", "fast", "tf1", 0.08),
    Ratio("w1", "fast", "jax", 0.75),
    Ratio("w2", "fast", "torch", 0.15),
    Ratio("w2", "fast", "autograd", 0.10),
    Ratio("w3", "fast", "torch", 0.28),
    Ratio("w3", "fast", "jax", 0.60),
    Ratio("w4", "fast", "torch", 1.0),
    Ratio("w4", "fast", "torch", 1.0, "default"),
    Ratio("w5", "fast", "torch", 1.3),
    Ratio("w5", "fast", "torch", 1.3, "default"),
    Ratio("w5", "fast", "jax", 1.3),
    Ratio("w5", "kernels", "torch", 1.0),
    Ratio("w6", "fast", "torch", 0.65),
    Ratio("w7f", "fast", "torch", 0.45),
    Ratio("w7", "fast", "torch", 0.45),
    Ratio("w8", "fast", "torch", 0.6),
    Ratio("w8", "fast", "torch_coalesced", 0.6),
    Ratio("w8", "kernels", "torch", 0.2),
    Ratio("w8", "kernels", "torch_coalesced", 0.2),
    Ratio("w4", "recorded", "fast", 1.05),
    Ratio("w2", "recorded", "fast", 1.10),
    Ratio("w12", "recorded", "fast", 1.15),
    Ratio("w1", "native", "fast", 0.12),
    Ratio("w2", "native", "fast", 0.12),
    Ratio("w3", "native", "fast", 0.9),
    Ratio("w6", "native", "fast", 0.95),
    Ratio("w7f", "native", "fast", 0.8),
    Ratio("w7", "native", "fast", 0.85),
    Ratio("w1", "native", "torch", 0.03),
    Ratio("w1", "native", "jax", 0.4),
    Ratio("w2", "native", "torch", 0.015),
    Ratio("w2", "native", "jax", 0.5),
    Ratio("w3", "native", "torch", 0.28),
    Ratio("w3", "native", "jax", 0.60),
    Ratio("w6", "native", "torch", 0.5),
    Ratio("w6", "native", "jax", 1.0),
    Ratio("w7", "native", "torch", 0.2),
    Ratio("w7", "native", "jax", 1.5),
    Ratio("w7", "native", "torch", 0.2, "default"),
    Ratio("w8", "native", "fast", 0.5),
    Ratio("w8", "native", "torch", 0.2),
    Ratio("w8", "native", "torch_coalesced", 0.6),
    Ratio("w9", "fast", "tf1", 1.3),
    Ratio("w9", "kernels", "tf1", 1.3),
    Ratio("w10", "fast", "tf1", 1.3),
    Ratio("w10", "kernels", "tf1", 1.3),
    Ratio("w11", "fast", "tf1", 1.3),
    Ratio("w11", "kernels", "tf1", 1.3),
)

COMPILING = (
    Measure("record", "differentiate + compile 10,000 ops, recorded plan", "s", 1.0),
    Measure("record_growth", "the same, 20,000 ops / 10,000 ops, recorded plan", "ratio", 2.2),
    Measure("fast", "differentiate + compile 10,000 ops, fast plan", "s", 1.0),
    Measure("fast_growth", "the same, 20,000 ops / 10,000 ops, fast plan", "ratio", 2.2),
    Measure("stop", "recompile after toggling a stop, 10,000 ops", "s", 0.1),
    Measure("override", "recompile after toggling an override, 10,000 ops", "s", 0.1),
)

_AT_ONCE = 0.1  # seconds, up to which what answers seems to answer at once
STARTING = (
    Measure("painted", "cold start to the start page on the screen", "s", 0.8),
    Measure("seconds", "cold start to a usable window", "s", 1.5),
    Measure("deaf", "the window is deaf at most, starting", "s", _AT_ONCE),
    Measure("heavy", "heavy modules imported before the first paint", "count", 0),
)

SIZES = (1_000, 10_000)  # nodes on the canvas
# key -> what, unit, targets for each of SIZES.
_CANVAS: Mapping[str, tuple[str, str, tuple[float, float]]] = {
    "first": ("arrays and the first frame", "s", (0.05, 0.1)),
    "pan": ("pan, a frame", "s", (0.003, 0.003)),
    "pan_slow": ("pan, one frame in twenty is slower than", "s", (0.012, 0.016)),
    "zoom": ("zoom, a frame", "s", (0.011, 0.011)),
    "crisp": ("the full frame after a zoom", "s", (0.025, 0.035)),
    "drag": ("drag of a node with 10 wires, a frame", "s", (0.003, 0.003)),
    "memory": ("memory of graph and canvas, MiB", "MiB", (45.0, 55.0)),
    "open": ("the window is deaf at most, opening", "s", (_AT_ONCE, _AT_ONCE)),
    "edit": ("the window is deaf at most, editing", "s", (_AT_ONCE, _AT_ONCE)),
    "step": ("a debugger's step, the window's part", "s", (_AT_ONCE, _AT_ONCE)),
}
# Of a training graph that comes as a .pb; what is done -> seconds of the window's process, for each
# of SIZES. While it is done the window may be deaf as long as what answers at once.
_TRAINING: Mapping[str, tuple[str, tuple[float, float]]] = {
    "open": ("opening it, scopes folded", (0.25, 1.0)),
    "expand": ("opening all its scopes", (0.25, 1.0)),
    "repaint": ("a full frame amid its wires", (0.025, 0.035)),
    "move": ("moving a node", (_AT_ONCE, _AT_ONCE)),
    "move undone": ("undoing that", (_AT_ONCE, _AT_ONCE)),
    "stop": ("stopping a gradient", (_AT_ONCE, _AT_ONCE)),
    "stop undone": ("undoing the stop", (_AT_ONCE, _AT_ONCE)),
}
_WAYS = {
    **{
        f"training {key}": (f"training graph, {what}", "s", goal)
        for key, (what, goal) in _TRAINING.items()
    },
    **{
        f"training {key} deaf": (f"deaf at most, training graph, {what}", "s", (_AT_ONCE, _AT_ONCE))
        for key, (what, _) in _TRAINING.items()
    },
}
CANVAS = tuple(
    Measure(f"{key} {nodes}", f"canvas, {nodes:,} nodes: {what}", unit, goal[i])
    for i, nodes in enumerate(SIZES)
    for key, (what, unit, goal) in {**_CANVAS, **_WAYS}.items()
)

DEBUG = (
    Measure("breakpoints", "W2: debugger with 10 breakpoints / without", "ratio", 1.02),
    Measure(
        "watched",
        "W4: debugger, 25 runs with 10 conditions, then 10 watches / without",
        "ratio",
        1.03,
    ),
    Measure("kept w4", "W4: debugger, all values of all runs kept / plan", "ratio", 1.20),
    Measure("back", "W4: debugger, step back / step", "ratio", 1.0),
    Measure("query all", "1,000 kept runs of the digits: isnan of whatever a step gives", "s", 1.0),
    Measure("query one", "1,000 kept runs of the digits: a gradient and the one before", "s", 1.0),
    Measure("goto", "W4: debugger, to a run kept 10 runs ago and back / a run", "ratio", 1.0),
    Measure("survey", "looking through a run of 10,000 ops for NaN", "s", 0.05),
    Measure("why", "why a value is NaN, 10,000 ops back", "s", 1.0),
)

_ITERATION = "an iteration / NumPy by hand"
RUNNING = (
    Measure("fed w1", "W1: Session.run, fed / plan", "ratio", 1.8),
    Measure("fed w2", "W2: Session.run, fed / plan", "ratio", 1.1),
    Measure("fed w3", "W3: Session.run, fed / plan", "ratio", 1.3),
    Measure("callable w1", "W1: make_callable / plan", "ratio", 1.5),
    Measure("callable w2", "W2: make_callable / plan", "ratio", 1.1),
    Measure("callable w3", "W3: make_callable / plan", "ratio", 1.1),
    Measure("train w1", "W1: a step of `train` / plan", "ratio", 1.5),
    Measure("train w3", "W3: a step of `train` / plan", "ratio", 1.5),
    Measure("command w1", "W1: a run of `run --fast --json` / plan", "ratio", 3.0),
    Measure("command w3", "W3: a run of `run --fast --json` / plan", "ratio", 1.5),
    Measure("loop fast forward", f"while loop, fast: {_ITERATION}", "ratio", 6.0),
    Measure("loop recorded forward", f"while loop, recorded: {_ITERATION}", "ratio", 13.0),
    Measure("loop fast gradient", f"its gradient, fast: {_ITERATION}", "ratio", 5.0),
    Measure("loop recorded gradient", f"its gradient, recorded: {_ITERATION}", "ratio", 11.0),
)

PYTHON = "python"  # before the key of what is measured without native tables
_FED = {
    "w1": "W1, on rows",
    "w3": "W3",
    "w4": "W4",
    "softmax": "digits, softmax regression",
    "cnn": "digits, convolutional net",
}
_STEP = "a step of `train` on batches / NumPy by hand"
TRAINING = (
    *(Measure(f"train {key}", f"{title}: {_STEP}", "ratio", 1.3) for key, title in _FED.items()),
    *(
        Measure(f"{PYTHON} train {key}", f"{title}, no native tables: {_STEP}", "ratio", 1.3)
        for key, title in _FED.items()
    ),
    Measure(
        "seek", "digits, convolutional net: to any of 10,000 steps, the slowest of 40", "s", 2.0
    ),
    *(
        Measure(
            f"panel {key}",
            f"{_FED[key]}: a step of which the panel draws the loss / one it is told nothing of",
            "ratio",
            1.03,
        )
        for key in ("softmax", "cnn")
    ),
    Measure("pan", "20 curves of 1,000,000 steps: a frame while they are moved", "s", 0.016),
)

QUICK = ("w1", "w2", "w3", "w4", "w7f", "w7", "w8")  # what fits into two minutes
