"""What watching a training costs while nothing happens: of a ResNet-18's step, in per cent.

    python tests/traces/watch_overhead.py [STEPS]

needs PyTorch. Steps without, with, and with somebody who follows take turns, on one thread; the
least CPU time of each. What telling a follower takes is measured by itself as well, as it is less
than steps differ.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "assets" / "capture"), str(Path(__file__).parent)]

import gradstep_torch  # noqa: E402
from torch_models import BasicBlock  # noqa: E402

WHEN = "isnan(loss) or norm(grad) > 1e6"


def resnet18():
    """Of the usual widths."""
    blocks, width = [], 64
    for out, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [BasicBlock(width, out, stride), BasicBlock(out, out)]
        width = out
    stem = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def main(steps):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(8, 3, 224, 224), torch.randint(0, 10, (8,))
    seconds = {"without": [], "with": [], "followed": []}
    telling = {"with": [], "followed": []}

    def step(kind):
        start = time.process_time()
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds[kind].append(time.process_time() - start)

    for _ in range(steps):
        step("without")
        for kind in telling:
            watched = gradstep_torch.watch(model, loss=functional.cross_entropy, when=WHEN)
            with watched, contextlib.ExitStack() as stack:
                if kind == "followed":
                    stack.enter_context(follower(watched.live))
                watched.live.tell = timed(watched.live.tell, telling[kind])
                step(kind)
    return "\n".join(lines(seconds, telling))


@contextlib.contextmanager
def follower(live):
    """Somebody who follows."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(live.path)
        while not live.arrivals:
            time.sleep(0.001)
        yield


def timed(function, seconds):
    def call(*args):
        start = time.process_time()
        function(*args)
        seconds.append(time.process_time() - start)

    return call


def lines(seconds, telling):
    plain = min(seconds["without"])
    yield f"{1000 * plain:.0f} ms a step without; watch(when={WHEN!r}):"
    for kind, each in telling.items():
        more = 100 * (min(seconds[kind]) / plain - 1)
        told = min(each)
        yield (
            f"{kind:>8} {more:+.2f} %; of it for who follows {1000 * told:.3f} ms, "
            f"{100 * told / plain:.4f} %"
        )


if __name__ == "__main__":
    sys.stdout.write(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10) + "\n")
