"""A memo of type rules' answers: an op type is asked once for given attributes and input types.

A rule sees more than that only through `InferContext.constant`; what it says after it asked for a
constant is not kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import attrs_key
from gradstep.core.memory_release import forget_with_document
from gradstep.core.ops.declare.table import InferContext, OpDef

Key = tuple[Hashable, ...]

_MOST = 20_000

# The types stand in the keys by identity (`_shared` makes equal ones the same), and are kept here.
_answers: dict[Key, tuple[tuple[TensorType, ...], tuple[TensorType, ...]]] = {}
_shared: dict[TensorType, TensorType] = {}


def key_of(definition: OpDef, attrs: Mapping[str, Any], types: Sequence[TensorType]) -> Key | None:
    """Under which the answer is kept; None where it cannot be."""
    plain = attrs_key(attrs)
    return None if plain is None else (definition, plain, *map(id, types))


def recall(key: Key | None) -> tuple[TensorType, ...] | None:
    """The types of the outputs, if they are known."""
    found = None if key is None else _answers.get(key)
    return None if found is None else found[1]


def ask(definition: OpDef, context: InferContext, key: Key | None) -> tuple[TensorType, ...]:
    """The rule's answer, kept where it follows from `key` alone."""
    result = definition.infer(context)
    outputs = tuple(map(intern_type, result if isinstance(result, tuple) else (result,)))
    if key is not None and not context.asked:
        _make_room()
        _answers[key] = context.types, outputs
    return outputs


def intern_type(kind: TensorType) -> TensorType:
    """`kind`, or the equal one that is known already."""
    return _shared.setdefault(kind, kind)


def _make_room() -> None:
    if len(_answers) >= _MOST:
        _forget()


def _forget() -> None:
    _answers.clear()
    _shared.clear()


forget_with_document(_forget)
