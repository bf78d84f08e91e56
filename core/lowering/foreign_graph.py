"""A graph of another framework, as its file tells of it: operations, tensors, where each is from.

Frozen, and free of any format: traces of PyTorch, JAX and ONNX are all read into these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Size = int | str  # a number, or the name of a size that may be any


@dataclass(frozen=True, slots=True)
class ForeignRef:
    """Output number `output` of a node; an input, which has one."""

    node: str
    output: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size that may be any, as an argument: an expression in the trace's symbols."""

    text: str


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type, as an argument ("float32")."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ForeignIterations:
    """What a tensor in a loop was, each time that it was computed.

    places:    int64 [times, loops around]: the number of the iteration in each loop around, the
               outermost first; ascending.
    values:    [times, …]. gradients: likewise, zeros where none came back; None for none at all.
    """

    places: np.ndarray
    values: np.ndarray
    gradients: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ForeignTensor:
    """Of one tensor: element type and sizes, as the framework calls them; what it was when the
    framework ran, and what gradient came back to it, where that is known; in a loop, `iterations`
    has both. An element type of "" is not told; nor are the sizes, where has_rank is False."""

    dtype: str
    shape: tuple[Size, ...]
    value: np.ndarray | None = None
    gradient: np.ndarray | None = None
    iterations: ForeignIterations | None = None
    has_rank: bool = True


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the program that asked for an operation. file: a key of ForeignGraph.sources."""

    file: str
    line: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ForeignInput:
    """What a graph begins with. kind: "parameter", "buffer" (kept from run to run), "constant" or
    "input" (given to each run). aliases: further names of the same tensor. tensor: its value.
    written: what its file calls it, where that is no name here."""

    name: str
    kind: str
    tensor: ForeignTensor
    trained: bool = False
    aliases: tuple[str, ...] = ()
    written: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ForeignNode:
    """One operation.

    name:     unique; its scopes are the modules that it is in ("layer1/0/conv1/conv2d").
    op:       "aten.conv2d.default": the framework's table, the name, and which variant of it.
    args:     by the framework's own names: numbers, texts, lists, ForeignRef, Symbol, ElementType,
              ForeignSubgraph.
    module:   the class of the module that it is in.
    lines:    how the program got there, the outermost first.
    function: the custom function that it is a part of, by its key in ForeignGraph.functions.
    backward: the custom function whose backward it is a part of, and of nothing else.
    written:  what its file calls it, where that is no name here.
    """

    name: str
    op: str
    args: Mapping[str, Any]
    outputs: tuple[ForeignTensor, ...]
    module: str = ""
    lines: tuple[SourceLine, ...] = ()
    function: str = ""
    backward: str = ""
    written: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ForeignSubgraph:
    """The function of a branch or a loop, as an argument. It reads its inputs and nothing else;
    what it gives are ForeignRefs and numbers. Names are unique in the whole trace."""

    inputs: tuple[str, ...]
    types: tuple[ForeignTensor, ...]
    nodes: tuple[ForeignNode, ...]
    results: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ForeignResult:
    """What a graph gives. kind: "loss" (what is differentiated), "output", or "update": what buffer
    `target` is from then on. name: what people call an output, where its file tells that; `value`
    is then no node's but this output's own, and what it is of is `source`."""

    kind: str
    value: ForeignRef
    target: str = ""
    name: str = ""
    source: ForeignRef | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """Words of whoever wrote the trace, about an input or, where it is "", about all."""

    text: str
    input: str = ""


@dataclass(frozen=True, slots=True)
class CustomFunction:
    """A function with a derivative of its own: its class, and its source text.

    inputs, outputs: its tensors. cotangents: one for each output, which its backward begins with;
    gradients: what that gives for each input, None for nothing. Empty where it was not traced.
    """

    name: str
    source: str
    inputs: tuple[ForeignRef, ...] = ()
    outputs: tuple[ForeignRef, ...] = ()
    cotangents: tuple[ForeignRef, ...] = ()
    gradients: tuple[ForeignRef | None, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ForeignGraph:
    """framework: name and version ("torch 2.13.0"). symbols: name of a size -> least and largest,
    None for none. sources: file -> its text. paths: file -> where it lay, if that is told."""

    framework: str
    title: str
    inputs: tuple[ForeignInput, ...]
    nodes: tuple[ForeignNode, ...]
    results: tuple[ForeignResult, ...]
    symbols: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    functions: Mapping[str, CustomFunction] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def all_nodes(self) -> Iterator[ForeignNode]:
        """Those in branches and loops as well, each behind what it is in."""
        return with_inner(self.nodes)


def with_inner(nodes: Iterable[ForeignNode]) -> Iterator[ForeignNode]:
    """These, and behind each those of its branches and loops."""
    for node in nodes:
        yield node
        for inner in subgraphs([*node.args.values()]):
            yield from with_inner(inner.nodes)


def subgraphs(values: Iterable[Any]) -> Iterator[ForeignSubgraph]:
    """The functions among arguments."""
    for value in values:
        if isinstance(value, ForeignSubgraph):
            yield value
        elif isinstance(value, list):
            yield from subgraphs(value)
