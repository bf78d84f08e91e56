"""A training that reaches NaN at step 137: what a user's script looks like, watched.

    python tests/traces/nan_training.py OUT.gstrace

needs PyTorch. The variance of a noise is trained without a bound; from step 137 on it is negative.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "assets" / "capture"))

import gradstep_torch  # noqa: E402

FIRST = 137


class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.variance = nn.Parameter(torch.tensor(1.355))

    def forward(self, x):
        deviation = self.variance.sqrt()
        return x * deviation


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.noise = Noise()
        self.norm = nn.BatchNorm1d(4, affine=False)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.noise(self.norm(x)) * self.scale


def energy(out, target):
    return (out.pow(2).mean(0) - target).sum() / 4


def main(path, **how):
    torch.manual_seed(3)
    net, target = Net(), torch.zeros(4)
    optimizer = torch.optim.SGD([net.noise.variance], lr=0.01)
    how = {"when": "isnan(loss) or norm(grad) > 1e3", "stop": True, "paths": False, **how}
    with gradstep_torch.watch(net, loss=energy, save=path, **how) as watched:
        for _ in range(200):
            out = net(torch.randn(64, 4))
            loss = energy(out, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return watched


if __name__ == "__main__":
    main(sys.argv[1])
