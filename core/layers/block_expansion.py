"""Expanding a block: its operations in a graph, in a scope of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.free_names import fresh_scope
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.layers.block_settings import Setting
from gradstep.core.layers.block_table import Block, BlockInput
from gradstep.core.layers.network_reuse import NETWORK, Network
from gradstep.core.layers.outer_graph import Around
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.collections import GraphKeys, is_in
from gradstep.core.ops.build.variable_scopes import VariableScope


@dataclass(frozen=True, slots=True)
class Expansion:
    """`graph` with a block in it: its scope, the names of its operations, the types of its outputs.
    initial: what its variables start with. updates: its operations that move averages and the like
    along, which somebody has to ask for."""

    graph: Graph
    scope: str
    operations: tuple[str, ...]
    outputs: Mapping[TensorRef, TensorType]
    initial: Mapping[str, np.ndarray]
    updates: tuple[str, ...]


def expand(
    graph: Graph,
    block: Block,
    sources: Sequence[TensorRef] = (),
    types: Mapping[TensorRef, TensorType] = MappingProxyType({}),
    settings: Mapping[str, Any] = MappingProxyType({}),
    reuse: str = "",
) -> Expansion:
    """`graph` with the operations of `block`, which read `sources` as far as they go.

    types: of the sources, as far as known. reuse: the scope whose variables it shares, instead of
    making its own. The rest of the graph need not be sound. Raises GradstepError when sources,
    settings or shared variables do not fit the block.
    """
    scope = fresh_scope(graph, block.name)
    around = Around(graph, types)
    chosen = block.chosen(settings)
    if reuse:
        around.share(reuse)
    with _inside(around.builder, scope, reuse):
        read = [around.tensor(ref) for ref in sources[: len(block.inputs)]]
        rest = [_placeholder(around.builder, missing) for missing in block.inputs[len(read) :]]
        values = {n: _meant(around, block.settings[n], value) for n, value in chosen.items()}
        found = _tensors(block.build(*read, *rest, **values))
        outputs = {around.reference(y): y.type for y in found}
    made = around.made()
    return Expansion(
        Graph.of([*graph, *made]),
        scope,
        tuple(op.name for op in made),
        outputs,
        around.builder.variables.initial,
        tuple(op.name for op in made if is_in(op, GraphKeys.UPDATE_OPS)),
    )


def _placeholder(builder: GraphBuilder, missing: BlockInput) -> Tensor | None:
    if missing.optional:
        return None
    return builder.placeholder(missing.name, missing.dtype, missing.shape)


@contextmanager
def _inside(builder: GraphBuilder, scope: str, reuse: str) -> Iterator[None]:
    """The block's scope is open, and variables are its own or those of `reuse`. What the functions
    of `tf` raise of their arguments is an error of the user's."""
    variables = VariableScope(reuse or scope, bool(reuse) or None)
    scopes = builder.scope(scope, exact=True), builder.variables.within(variables)
    try:
        with builder.as_default(), scopes[0], scopes[1]:
            yield
    except ValueError as error:
        raise GradstepError(
            " ".join(str(error).split()), kind="ValueError", hint="change a setting or an input"
        ) from error


def _meant(around: Around, setting: Setting, value: Any) -> Any:
    """What the build function gets for a setting: its value, or the network that it names."""
    return Network(around, value) if setting.names == NETWORK else value


def _tensors(outputs: Any) -> Iterator[Tensor]:
    """Those in a nesting of tensors, in order."""
    if isinstance(outputs, Tensor):
        yield outputs
    elif outputs is not None:
        for part in outputs:
            yield from _tensors(part)
