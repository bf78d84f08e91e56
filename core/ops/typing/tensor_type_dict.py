"""The types of a graph's tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.tensor_dict import ByTensor
from gradstep.core.persistent.overlaid_mapping import overlaid
from gradstep.core.persistent.spliced_mapping import copied


class TensorTypes(ByTensor[TensorType]):
    """Tensor -> type."""

    __slots__ = ()

    def copy(self) -> TensorTypes:
        return TensorTypes(copied(self.of))

    def overlaid(self) -> TensorTypes:
        """A copy to be changed here and there; from here on nobody may change these."""
        return TensorTypes(overlaid(self.of))

    def get(self, ref: Any, default: Any = None) -> Any:
        found = self.of.get(ref.op, ())
        return (found[ref.index] if 0 <= ref.index < len(found) else None) or default

    def put(self, ref: TensorRef, kind: TensorType) -> None:
        """From here on `ref` is of this type."""
        outputs = [*self.of.get(ref.op, ())]
        outputs += [None] * (ref.index + 1 - len(outputs))
        outputs[ref.index] = kind
        self.of[ref.op] = tuple(outputs)


def outputs_of(graph: Graph, types: Mapping[TensorRef, TensorType], name: str) -> list[TensorRef]:
    """The typed outputs of operation `name`, in order."""
    refs: list[TensorRef] = []
    while (ref := TensorRef(name, len(refs))) in types:
        refs.append(ref)
    return refs
