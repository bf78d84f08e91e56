"""CPU seconds of a ResNet-18's steps without watch, with it, and with somebody who follows.

    python tests/traces/watch_overhead.py [ROUNDS]

needs PyTorch; `./dev bench watch` asks it, and says what follows from them. The three take turns,
on one thread, and each round begins with another one. What watch itself does in a step is measured
by itself as well, as it is less than steps differ.
"""

from __future__ import annotations

import contextlib
import json
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


KINDS = "without", "with", "followed"
DOES = "_before", "_loss", "_look"  # watch itself, in a step


def main(rounds):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(8, 3, 224, 224), torch.randint(0, 10, (8,))
    itself = {kind: [] for kind in KINDS[1:]}

    def step():
        start = time.process_time()
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return time.process_time() - start

    def one(kind):
        if kind == "without":
            return step()
        watched, own = gradstep_torch.watch(model, loss=functional.cross_entropy, when=WHEN), []
        for name in DOES:
            setattr(watched, name, timed(getattr(watched, name), own))
        with watched, contextlib.ExitStack() as stack:
            if kind == "followed":
                stack.enter_context(follower(watched.live))
            taken = step()
        itself[kind].append(sum(own))
        return taken

    step()  # what is made once is no part of it
    seconds = {kind: [] for kind in KINDS}
    for number in range(rounds):
        first = number % len(KINDS)
        for kind in KINDS[first:] + KINDS[:first]:
            seconds[kind].append(one(kind))
    return {"when": WHEN, "torch": torch.__version__, "seconds": seconds, "itself": itself}


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


if __name__ == "__main__":
    found = main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
    sys.stdout.write(json.dumps(found) + "\n")
