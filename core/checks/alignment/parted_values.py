"""What is behind the last tensors that two networks have in common, on each side."""

from __future__ import annotations

from collections.abc import Collection

from gradstep.core.checks.alignment.network_run import NetworkRun, Values
from gradstep.core.checks.alignment.value_matching import Pairs
from gradstep.core.graph.model import TensorRef


def lost_values(run: NetworkRun, values: Values, met: Pairs) -> tuple[TensorRef, ...]:
    """Tensors behind which nothing is met any more, in order: their own numbers nowhere on the
    other side, nor those of anything that needs them."""
    alive = {*met}
    living = {ref.op for ref in met}
    for name in reversed(run.needed):
        read = [ref for ref in run.graph[name].inputs if ref is not None]
        if name in living:
            alive.update(read)
            living.update(ref.op for ref in read)
    return tuple(ref for ref in values if ref not in alive)


def lost_names(lost: Collection[TensorRef]) -> frozenset[str]:
    """The operations that give them."""
    return frozenset(ref.op for ref in lost)


def read_weights(run: NetworkRun, names: Collection[str]) -> list[TensorRef]:
    """The weights that these operations read, through what depends on weights alone."""
    found, seen, waiting = list[TensorRef](), set[str](), [*names]
    while waiting:
        for read in run.graph[waiting.pop()].inputs:
            if read is None or read.op in seen or read.op in run.fed_by_inputs:
                continue
            seen.add(read.op)
            waiting.append(read.op)
            if (weight := TensorRef(read.op)) in run.weights:
                found.append(weight)
    return sorted(found, key=[*run.weights].index)
