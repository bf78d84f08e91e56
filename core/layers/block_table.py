"""A composite block: its record, and the table of blocks."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import gradstep.core.layers
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.layers.block_settings import Setting
from gradstep.core.ops import api as tf

Outputs = Any  # a tensor, or a nesting of them
Build = Callable[..., Outputs]  # build(*inputs, **settings): adds operations to the inputs' graph


@dataclass(frozen=True, slots=True)
class BlockInput:
    """What a block reads; an input that nothing is wired to becomes a placeholder like this, or is
    None if it is optional."""

    name: str
    dtype: str = "float32"
    shape: tuple[int | None, ...] | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """build: adds the operations to the inputs' graph, in the scopes that are open, and returns
    the outputs. settings: what may be chosen when it is made, by name. family: the module that
    declares it. has_weights: whether it makes variables, which it can also share."""

    name: str
    family: str
    inputs: tuple[BlockInput, ...]
    settings: Mapping[str, Setting]
    build: Build
    doc: str
    has_weights: bool = False

    def chosen(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, those not given at their defaults. Raises GradstepError for one that is
        wrong or that there is none of."""
        for name in settings:
            if name not in self.settings:
                raise GradstepError(
                    f"{self.name} has no setting '{name}'",
                    kind="ValueError",
                    hint=f"it has {', '.join(self.settings) or 'none'}",
                )
        return {
            name: setting.checked(name, settings.get(name, setting.default))
            for name, setting in self.settings.items()
        }


_BLOCKS: dict[str, Block] = {}


def block(
    name: str, inputs: str, doc: str, weights: bool = False, **settings: Setting
) -> Callable[[Build], Build]:
    """Declare the decorated function as the block `name`. inputs: `name`, `name:dtype` or
    `name:dtype[2,?]`, separated by spaces; `name?` is optional. weights: it has variables."""

    def declare(build: Build) -> Build:
        read = tuple(_input(text) for text in inputs.split())
        family = build.__module__.rpartition(".")[2]
        chosen = MappingProxyType(settings)
        _BLOCKS[name] = Block(name, family, read, chosen, build, doc, weights)
        return build

    return declare


def here() -> str:
    """The block's own scope, as a name that opens it again and no other."""
    scope: str = tf.get_variable_scope().name
    return f"{scope}/"


def all_blocks() -> Iterator[Block]:
    """Every block: families by name, each in order of declaration, whoever imported which first."""
    _load()
    yield from sorted(_BLOCKS.values(), key=lambda block: block.family)


def find_block(name: str) -> Block:
    """The block of that name. Raises GradstepError (LookupError), with near misses."""
    _load()
    if name in _BLOCKS:
        return _BLOCKS[name]
    meant = near(name, _BLOCKS)
    hint = did_you_mean(meant) or f"there are {', '.join(_BLOCKS)}"
    raise GradstepError(f"there is no block '{name}'", kind="LookupError", hint=hint)


def _input(text: str) -> BlockInput:
    name, _, kind = text.partition(":")
    dtype, bracket, sizes = kind.partition("[")
    optional, name = name.endswith("?"), name.rstrip("?")
    if not bracket:
        return BlockInput(name, dtype or "float32", optional=optional)
    dims = [d for d in sizes.rstrip("]").split(",") if d]
    shape = tuple(None if d == "?" else int(d) for d in dims)
    return BlockInput(name, dtype, shape, optional)


@cache
def _load() -> None:
    for found in pkgutil.iter_modules(gradstep.core.layers.__path__, "gradstep.core.layers."):
        importlib.import_module(found.name)
