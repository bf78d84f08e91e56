"""Writes tests/data/pytorch_blocks.npz anew: `python -m tests.core.layers.record_pytorch`.

PyTorch is the one that benchmarks are run against; it is installed into .bench/ if it is not there.
"""

from __future__ import annotations

import sys

import numpy as np

from tests.bench.environments import python_of
from tests.core.layers.pytorch_cases import CASES, RECORDED, drawn, theirs

SEED = 1


def main() -> None:
    given = {name: drawn(name, SEED) for name in CASES}
    found = theirs(python_of("torch", may_install=True), given)
    flat = {
        f"{name}/{key}": array
        for name in CASES
        for key, array in {**given[name], **found[name]}.items()
    }
    np.savez_compressed(RECORDED, **flat)
    sys.stderr.write(f"{len(CASES)} cases in {RECORDED}\n")


if __name__ == "__main__":
    main()
