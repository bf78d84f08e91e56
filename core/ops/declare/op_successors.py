"""Op types that TensorFlow reads from old graphs, and what it makes in their place today."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gradstep.core.ops.declare.definition import OpDef

_TO_V2 = (
    "Add",
    "BatchMatMul",
    "Concat",
    "FIFOQueue",
    "Gather",
    "HashTable",
    "InTopK",
    "InitializeTable",
    "LookupTableFind",
    "LookupTableImport",
    "LookupTableSize",
    "PaddingFIFOQueue",
    "Print",
    "PriorityQueue",
    "QueueClose",
    "QueueDequeue",
    "QueueDequeueMany",
    "QueueDequeueUpTo",
    "QueueEnqueue",
    "QueueEnqueueMany",
    "QueueIsClosed",
    "QueueSize",
    "RandomShuffleQueue",
    "Reverse",
)
_TO_V3 = (
    "FusedBatchNorm",
    "FusedBatchNormGrad",
    "MatrixDiag",
    "MatrixDiagPart",
    "MatrixSetDiag",
)
SUCCESSORS: Mapping[str, str] = MappingProxyType(
    {name: f"{name}V2" for name in _TO_V2}
    | {f"{name}{version}": f"{name}V3" for name in _TO_V3 for version in ("", "V2")}
)


def names_of(definition: OpDef) -> tuple[str, ...]:
    """What an op type is also known by: the functions of `tf` that are it, and what it took the
    place of."""
    return (*definition.python, *(old for old, new in SUCCESSORS.items() if new == definition.type))
