"""The table of JAX's primitives, by their names in a jaxpr."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from gradstep.core.lowering.lowering_table import B, LoweringTable, Made, Site

LAX = LoweringTable()


def lower(*names: str, **more: Any) -> Callable[[B], B]:
    """Declare what builds these, as LoweringTable.lower does. In a jaxpr a number may stand for any
    scalar: where a function takes a `Tensor` alone it gets one, of the element type of what the
    node gives."""
    declare = LAX.lower(*names, **more)

    def with_tensors(build: B) -> B:
        declare(_of_tensors(build))
        return build

    return with_tensors


def _of_tensors(build: Callable[..., Made]) -> Callable[..., Made]:
    parameters = inspect.signature(build).parameters.values()
    tensors = {one.name for one in parameters if one.annotation == "Tensor"}

    @wraps(build)
    def of(site: Site, **args: Any) -> Made:
        given = {
            name: site.constant(np.array(value, site.dtype().numpy))
            if name in tensors and isinstance(value, bool | int | float)
            else value
            for name, value in args.items()
        }
        return build(site, **given)

    return of
