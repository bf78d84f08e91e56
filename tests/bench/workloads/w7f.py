"""W7f: W7 forward only."""

from __future__ import annotations

from functools import partial

from tests.bench.workloads import w7

RATES = w7.RATES
ours = partial(w7.ours, forward=True)
torch = partial(w7.torch, forward=True)
