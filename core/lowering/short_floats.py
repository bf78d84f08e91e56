"""Operations on float16 and bfloat16 lowered as PyTorch computes them: in float32, rounded once."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.lowering.lowering_table import Lowering, Site
from gradstep.core.lowering.plain_operands import cast
from gradstep.core.ops.build.builder import Tensor


def lower_as_computed(lowering: Lowering, site: Site, args: Mapping[str, Any]) -> Sequence[Tensor]:
    """The tensors that an operation gives, in the element types that the framework gives. Where a
    kernel computes wider than its operands are, these are cast to float32 first: numbers of Python
    and sums then have its digits and its range, and so have the gradients, which casts pass on.
    Raises UnloweredError."""
    if not lowering.widens or not any(_is_short(x) for x in _flat([*args.values()])):
        return lowering(site, args)
    known: dict[TensorRef, np.ndarray] = {}
    types: dict[TensorRef, str] = {}

    def widened(value: Any) -> Any:
        if isinstance(value, list):
            return [widened(one) for one in value]
        if not _is_short(value):
            return value
        wide = cast(value, DType.FLOAT32)
        if (was := site.known.get(value.ref)) is not None:
            known[wide.ref] = was.astype(np.float32)
        if (told := site.types.get(value.ref)) is not None:
            types[wide.ref] = told
        return wide

    wide_args = {name: widened(value) for name, value in args.items()}
    wide_site = replace(
        site,
        known=ChainMap(known, site.known),  # type: ignore[arg-type]  # it is only read
        types=ChainMap(types, site.types),  # type: ignore[arg-type]
        is_widened=True,
    )
    made = lowering(wide_site, wide_args)
    return [_rounded(site, number, tensor) for number, tensor in enumerate(made)]


def _rounded(site: Site, number: int, tensor: Tensor) -> Tensor:
    """As what the framework gives, where that is told and is shorter."""
    told = number < len(site.node.outputs) and site.output(number).dtype
    kind = site.dtype(number) if told else tensor.dtype
    return cast(tensor, kind) if kind.is_short else tensor


def _is_short(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.is_short


def _flat(values: Sequence[Any]) -> list[Any]:
    return [x for one in values for x in (_flat(one) if isinstance(one, list) else [one])]
