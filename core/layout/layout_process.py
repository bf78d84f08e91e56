"""Layout in a process of its own, with a time limit: no diagram can hold up the window.

`python -m gradstep.core.layout.layout_process` reads one job from standard input and writes the
places.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from gradstep.core.layout import sugiyama
from gradstep.core.layout.box_diagram import Arrow, Box, Diagram, Positions, by_id
from gradstep.core.layout.layout_engines import choose, layout

LIMIT = 3.0  # seconds for the first engine
OWN_LIMIT = 20.0  # seconds for our own, which is quick on everything we have met


def arrange(
    boxes: Sequence[Box], arrows: Sequence[Arrow], limit: float = LIMIT, engine: str = ""
) -> Positions:
    """As `engines.layout`, from another process. Blocks the calling thread, not the interpreter.

    An engine that runs into `limit` seconds, or dies, is given up for our own.
    """
    scoped = any(box.scopes for box in boxes)  # each scope is a diagram with an engine of its own
    first = engine or ("" if scoped else choose(Diagram.of(boxes, arrows)))
    if first != "own":
        found = _ask(boxes, arrows, first, limit)
        if found is not None:
            return found
    found = _ask(boxes, arrows, "own", OWN_LIMIT)
    return found if found is not None else in_rows(boxes)


def in_rows(boxes: Sequence[Box]) -> Positions:
    """Places without regard to arrows, for when nothing else came back."""
    return by_id(boxes, sugiyama.arrange(Diagram.of(boxes, [])))


def _ask(
    boxes: Sequence[Box], arrows: Sequence[Arrow], engine: str, limit: float
) -> Positions | None:
    job = [engine, [[b.id, b.width, b.height, b.near, list(b.scopes)] for b in boxes], list(arrows)]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gradstep.core.layout.layout_process"],
            input=json.dumps(job).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limit,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    return {name: (x, y) for name, (x, y) in json.loads(done.stdout).items()}


def main() -> None:
    engine, boxes, arrows = json.load(sys.stdin)
    found = layout([Box(*b) for b in boxes], [(a, b) for a, b in arrows], engine)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
