"""A tower of a data-parallel training: losses and gradients of a part of a batch, in a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.data_args import read_data
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.runs.training_steps import Asked, ask_for
from gradstep.core.data.data_source import DataSource
from gradstep.core.document.placeholder_substitution import with_feeds
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.workers.work_link import link
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.program.questions.loaded_document import Loaded, start


class Array(msgspec.Struct, frozen=True):
    """One array as plain data."""

    dtype: str
    shape: list[int]
    data: bytes

    @classmethod
    def of(cls, array: np.ndarray) -> Array:
        return cls(array.dtype.name, [*array.shape], np.ascontiguousarray(array).tobytes())

    @property
    def value(self) -> np.ndarray:
        return np.frombuffer(self.data, np.dtype(self.dtype)).reshape(self.shape).copy()


class TowerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """words: arguments of training, the file last. part: which of `parts` of the batch of `step`.
    variables: what they hold, and how much random numbers were drawn."""

    words: list[str]
    step: int
    part: int
    parts: int
    variables: dict[str, Array]


class TowerResult(msgspec.Struct, frozen=True, kw_only=True):
    """rows: how many they were; losses, gradients: in the order of `Asked` and `gradient_refs`."""

    rows: int
    losses: list[Array]
    gradients: list[Array]


def gradient_refs(what: Asked) -> list[TensorRef]:
    """The tensors that hold the gradients of variables, in an order that all processes have."""
    program = what.program
    held = {
        str(ref): gradient
        for ref, gradient in program.gradients.items()
        if ref.op in program.forward and program.forward[ref.op].type in VARIABLES
    }
    return [held[name] for name in sorted(held)]


def part_of(rows: Mapping[TensorRef, np.ndarray], part: int, parts: int) -> dict[TensorRef, Any]:
    """Of what a batch is fed, one of so many parts of nearly one size."""
    return {ref: np.array_split(array, parts)[part] for ref, array in rows.items()}


def compute_tower(order: Any) -> Any:
    """order: a TowerOrder, as plain data; gives a TowerResult likewise. Raises GradstepError."""
    wanted = msgspec.convert(order, TowerOrder)
    tower = _tower(tuple(wanted.words))
    for name, array in wanted.variables.items():
        tower.session.store.set(name, tower.session.backend.put(array.value))
    feeds = part_of(tower.data.feeds_at(wanted.step), wanted.part, wanted.parts)
    refs = gradient_refs(tower.what)
    names = [*tower.what.losses, *(str(ref) for ref in refs)]
    found = tower.session.run(names, {**tower.loaded.feeds(), **feeds})
    arrays = [Array.of(np.asarray(value)) for value in found]
    split, rows = len(tower.what.losses), len(next(iter(feeds.values())))
    result = TowerResult(rows=rows, losses=arrays[:split], gradients=arrays[split:])
    return msgspec.to_builtins(result, builtin_types=(bytes,))


@dataclass(frozen=True, eq=False)
class _Tower:
    loaded: Loaded
    data: DataSource
    what: Asked
    session: Session


@lru_cache(maxsize=1)
def _tower(words: tuple[str, ...]) -> _Tower:
    """Made once in a process."""
    args = verb_parser("train").parse_args([*words])
    args.said_replaced = True  # by who started it
    loaded = load(args)
    data = read_data(loaded.document, args)
    assert data is not None  # towers part rows
    feeds = data.training.feeds_at(0)
    loaded = replace(loaded, document=with_feeds(loaded.document, feeds))
    what = ask_for(loaded, ())
    backend = open_devices(args, link().devices(), loaded.document)
    layout = shared_arguments.layout(args)
    session = start(loaded, what.program.graph, backend, what.program.initial, **layout)
    return _Tower(loaded, data.training, what, session)
