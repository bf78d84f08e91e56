"""A composite block: its record, the table of blocks, and expanding one into operations."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from types import MappingProxyType
from typing import Any

import core.layers
from core.errors import GradstepError
from core.graph.dtypes import DType, TensorType
from core.graph.model import Graph, Operation, TensorRef
from core.graph.scopes import parents
from core.ops.builder import GraphBuilder, Tensor

Build = Callable[..., Any]  # build(*inputs, **settings): adds operations to the inputs' graph


@dataclass(frozen=True, slots=True)
class BlockInput:
    """What a block reads; an input that nothing is wired to becomes a placeholder like this."""

    name: str
    dtype: str = "float32"
    shape: tuple[int | None, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """settings: name -> default; what may be chosen when it is made. family: the module that
    declares it."""

    name: str
    family: str
    inputs: tuple[BlockInput, ...]
    settings: Mapping[str, Any]
    build: Build
    doc: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """`graph` with a block in it: its scope, and the names of its operations."""

    graph: Graph
    scope: str
    operations: tuple[str, ...]


_BLOCKS: dict[str, Block] = {}


def block(name: str, inputs: str, doc: str, **settings: Any) -> Callable[[Build], Build]:
    """Declare the decorated function as the block `name`. inputs: `name`, `name:dtype` or
    `name:dtype[2,?]`, separated by spaces."""

    def declare(build: Build) -> Build:
        read = tuple(_input(text) for text in inputs.split())
        family = build.__module__.rpartition(".")[2]
        _BLOCKS[name] = Block(name, family, read, MappingProxyType(settings), build, doc)
        return build

    return declare


def all_blocks() -> Iterator[Block]:
    """Every block, in order of declaration."""
    _load()
    yield from _BLOCKS.values()


def find_block(name: str) -> Block:
    """The block of that name. Raises GradstepError (LookupError), with near misses."""
    _load()
    if name in _BLOCKS:
        return _BLOCKS[name]
    from difflib import get_close_matches

    near = get_close_matches(name, list(_BLOCKS), n=3, cutoff=0.6) or list(_BLOCKS)
    raise GradstepError(
        f"there is no block '{name}'", kind="LookupError", hint=f"there are {', '.join(near)}"
    )


def expand(
    graph: Graph,
    block: Block,
    sources: Sequence[TensorRef] = (),
    types: Mapping[TensorRef, TensorType] = MappingProxyType({}),
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Expansion:
    """`graph` with the operations of `block`, which read `sources` as far as they go.

    types: of the sources, as far as known. The rest of the graph need not be sound. Raises
    GradstepError when the sources do not fit the block.
    """
    scope = _fresh_scope(graph, block.name)
    builder = GraphBuilder()
    stand_ins = {f"source {i}": ref for i, ref in enumerate(sources[: len(block.inputs)])}
    read = [_stand_in(builder, name, types.get(ref)) for name, ref in stand_ins.items()]
    with builder.as_default(), builder.scope(scope, exact=True):
        read += [builder.placeholder(m.name, m.dtype, m.shape) for m in block.inputs[len(read) :]]
        block.build(*read, **{**block.settings, **settings})
    made = [_grafted(op, stand_ins) for op in builder.build() if op.name not in stand_ins]
    return Expansion(Graph.of([*graph, *made]), scope, tuple(op.name for op in made))


def _fresh_scope(graph: Graph, wanted: str) -> str:
    """`wanted`, numbered if an operation or a scope is called so."""
    taken = {name.lower() for name in graph.operations}
    taken |= {scope for name in tuple(taken) for scope in parents(name)}
    numbered = (f"{wanted}_{i}" if i else wanted for i in count())
    return next(name for name in numbered if name.lower() not in taken)


def _stand_in(builder: GraphBuilder, name: str, kind: TensorType | None) -> Tensor:
    kind = kind or TensorType(DType.FLOAT32)
    return builder.placeholder(name, kind.dtype, kind.shape)


def _grafted(op: Operation, stand_ins: Mapping[str, TensorRef]) -> Operation:
    return replace(op, inputs=tuple(stand_ins.get(r.op, r) if r else r for r in op.inputs))


def _input(text: str) -> BlockInput:
    name, _, kind = text.partition(":")
    dtype, bracket, sizes = kind.partition("[")
    if not bracket:
        return BlockInput(name, dtype or "float32")
    dims = [d for d in sizes.rstrip("]").split(",") if d]
    return BlockInput(name, dtype, tuple(None if d == "?" else int(d) for d in dims))


@cache
def _load() -> None:
    for found in pkgutil.iter_modules(core.layers.__path__, "core.layers."):
        importlib.import_module(found.name)
