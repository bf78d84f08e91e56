"""What watching a training costs while nothing happens: of a ResNet-18's step, in per cent.

    python tests/traces/watch_overhead.py [STEPS]

needs PyTorch. Steps with and without take turns, on one thread; the least CPU time of each.
"""

from __future__ import annotations

import contextlib
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
    seconds = {True: [], False: []}
    for number in range(2 * steps):
        watches = bool(number % 2)
        watched = gradstep_torch.watch(model, loss=functional.cross_entropy, when=WHEN)
        with watched if watches else contextlib.nullcontext():
            start = time.process_time()
            loss = functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seconds[watches].append(time.process_time() - start)
    plain, more = (min(seconds[key]) for key in (False, True))
    return (
        f"{1000 * plain:.0f} ms a step; {100 * (more / plain - 1):+.2f} % with watch(when={WHEN!r})"
    )


if __name__ == "__main__":
    sys.stdout.write(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10) + "\n")
