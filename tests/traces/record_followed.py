"""Record what a training says that is followed from its second step on, until it reaches NaN.

    python tests/traces/record_followed.py tests/data/traces/followed_to_nan.jsonl

needs PyTorch. Places and numbers that are this machine's are replaced.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
from pathlib import Path

import nan_training

HERE = {
    "script": "/home/me/work/nan_training.py",
    "pid": 4711,
    "saved": "/home/me/work/bad.gstrace",
}


def main(out):
    wire = socket.socket(socket.AF_UNIX)
    plain, found = nan_training.energy, []

    watch = nan_training.gradstep_torch.watch

    def kept(*args, **how):
        found.append(watch(*args, **how))
        return found[0]

    def energy(output, target):
        live = found[0].live
        if found[0].step == 2 and not (live.followers or live.arrivals):
            wire.connect(live.path)
            while not live.arrivals:
                pass
        return plain(output, target)

    nan_training.energy, nan_training.gradstep_torch.watch = energy, kept
    with tempfile.TemporaryDirectory() as folder:
        nan_training.main(Path(folder) / "bad.gstrace")
    lines = [json.loads(line) for line in wire.makefile()]
    told = [{key: HERE.get(key, value) for key, value in line.items()} for line in lines]
    Path(out).write_text("".join(json.dumps(line) + "\n" for line in told))


if __name__ == "__main__":
    main(sys.argv[1])
