"""What `gradstep why` prints of gradient cuts: the operations that all of a gradient passes."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.protocol.messages import Bottlenecks

_MOST = 8  # operations, or wires, that are named


def bottleneck_text(found: Bottlenecks, path: Sequence[str]) -> str:
    """A line for what it passes and one for what would end it; empty where nothing flows. path: one
    way that it takes, both ends included, which is printed above."""
    lines = []
    if found.passes:
        only = found.passes == [*path[1:-1]]
        names = "all of it takes this path" if only else _some(found.passes, " → ")
        lines.append(f"passes: {names}")
    if found.cut:
        count = len(found.cut)
        wires = "1 wire" if count == 1 else f"{count} wires"
        lines.append(f"ends:   with a stop at {wires}: {_some(found.cut, ', ')}")
    return "".join(f"\n  {line}" for line in lines)


def _some(names: Sequence[str], between: str) -> str:
    """The names; of many the first and the last."""
    if len(names) <= _MOST:
        return between.join(names)
    half = _MOST // 2
    rest = f"… {len(names) - 2 * half} more …"
    return between.join([*names[:half], rest, *names[-half:]])
