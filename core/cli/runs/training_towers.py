"""Data-parallel training: processes take parts of a batch, whose gradients are averaged by rows.

The updates are made here, with the averages in the place of the gradients that a run computes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from gradstep.core.cli.arguments.argument_words import words_of
from gradstep.core.cli.arguments.shared_arguments import require_with
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.output.command_output import usage, warn
from gradstep.core.cli.runs.tower_gradients import (
    Array,
    TowerOrder,
    TowerResult,
    compute_tower,
    gradient_refs,
)
from gradstep.core.cli.runs.training_steps import Asked
from gradstep.core.data.data_source import DataSource
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.document.document import Document
from gradstep.core.document.requests import every_request
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.worker_pool import WorkerPool
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.program.questions.loaded_document import Loaded

_OWN = ("towers", "logdir", "checkpoint", "checkpoint_every", "keep", "resume", "restore", "out",
        "overwrite", "steps", "epochs", "every", "until", "lines", "json", "help",
        "timeout")  # fmt: skip
_TOLERANCE = 1e-3  # of the largest element, that the order of sums may make a difference of


class Towers:
    """Gives the losses of steps, and makes their updates on `session`."""

    def __init__(
        self,
        pool: WorkerPool,
        count: int,
        words: Sequence[str],
        loaded: Loaded,
        what: Asked,
        session: Session,
        data: DataSource,
    ) -> None:
        self._pool, self._count, self._words = pool, count, [*words]
        self._loaded, self._what, self._session, self._data = loaded, what, session, data
        self._refs = gradient_refs(what)
        self._slots = {slot for slots in what.program.slots.values() for slot in slots}
        self._is_compared = False

    def step(self, step: int, names: Sequence[str]) -> list[np.ndarray | None]:
        """Make one, from 0; the losses `names` of its batch. Raises GradstepError."""
        rows = self._data.feeds_at(step)
        feeds = {**self._loaded.feeds(), **rows}
        losses, gradients = self._averaged(step, len(next(iter(rows.values()))))
        if not self._is_compared:
            self._is_compared = True
            self._compare(gradients, feeds)
        given = dict(zip(self._refs, gradients, strict=True))
        self._session.run([], {**feeds, **given}, self._what.operations)
        known = dict(zip(self._what.losses, losses, strict=True))
        return [known[name] for name in names]

    def _averaged(self, step: int, rows: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Losses and gradients of a batch: the means of the parts', weighted by their rows."""
        parts = min(self._count, rows)
        variables = self._variables()
        orders = [
            TowerOrder(words=self._words, step=step, part=n, parts=parts, variables=variables)
            for n in range(parts)
        ]
        asked = [
            self._pool.submit(compute_tower, msgspec.to_builtins(order, builtin_types=(bytes,)))
            for order in orders
        ]
        found = [_result(future) for future in asked]
        losses = [[array.value for array in each.losses] for each in found]
        gradients = [[array.value for array in each.gradients] for each in found]
        weights = [each.rows for each in found]
        return _mean(losses, weights), _mean(gradients, weights)

    def _variables(self) -> dict[str, Array]:
        """All that a forward pass starts from: no slots of optimizers."""
        held = {name: array for name, array in self._arrays() if name not in self._slots}
        return {name: Array.of(array) for name, array in held.items()}

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """What the session holds, but for queues and the like."""
        store = self._session.store
        for name, held in store.items():
            if not isinstance(held, OpaqueState):
                yield name, store.backend.get(held)

    def _compare(self, averaged: Sequence[np.ndarray], feeds: Any) -> None:
        """Say where the whole batch has other gradients than the mean of its parts."""
        store = self._session.store
        before = {name: np.array(array) for name, array in self._arrays()}
        whole = self._session.run([str(ref) for ref in self._refs], feeds)
        for name, array in before.items():
            store.set(name, store.backend.put(array))
        worst, where = 0.0, ""
        for ref, mine, theirs in zip(self._refs, whole, averaged, strict=True):
            scale = float(np.max(np.abs(mine), initial=0)) or 1.0
            apart = float(np.max(np.abs(mine - theirs), initial=0)) / scale
            if apart > worst:
                worst, where = apart, ref.op
        if worst > _TOLERANCE:
            warn(_differs(worst, where, self._loaded.document))


@contextmanager
def open_towers(
    args: argparse.Namespace,
    loaded: Loaded,
    what: Asked,
    session: Session,
    data: OpenedData | None,
) -> Iterator[Towers | None]:
    """What --towers asks for; None for nothing. Raises GradstepError (UsageError) for what is not
    parted."""
    if not args.towers:
        yield None
        return
    if data is None:
        require_with(args, "--data", ["towers"], "say --data x=@FILE.csv")
    assert data is not None
    if args.sandbox:
        raise usage("--towers starts processes, and --sandbox lets none be started", "choose one")
    _require_one_loss(args, loaded.document, what)
    words = [*words_of(verb_parser("train"), args, _OWN), "--", os.path.abspath(args.file)]
    pool = WorkerPool(args.towers)
    try:
        yield Towers(pool, args.towers, words, loaded, what, session, data.training)
    finally:
        pool.stop()


def _require_one_loss(args: argparse.Namespace, document: Document, what: Asked) -> None:
    if args.fetch or args.until:
        raise usage("--towers gives the loss alone", "leave --fetch and --until away")
    if len(every_request(document)) != 1 or not gradient_refs(what):
        raise usage("--towers averages the gradients of one loss", "train on one process")
    if what.program.slices:
        raise usage(
            "--towers averages whole gradients, and this document has some of chosen rows alone",
            "train on one process",
        )


def _mean(parts: Sequence[Sequence[np.ndarray]], weights: Sequence[int]) -> list[np.ndarray]:
    shares = [weight / sum(weights) for weight in weights]
    found = []
    for values in zip(*parts, strict=True):
        whole = sum(share * v.astype(np.float64) for share, v in zip(shares, values, strict=True))
        found.append(np.asarray(whole).astype(values[0].dtype))
    return found


def _result(future: Future[Any]) -> TowerResult:
    return msgspec.convert(future.result(), TowerResult)


def _differs(worst: float, where: str, document: Document) -> GradstepError:
    norms = [op.name for op in document.graph if "BatchNorm" in op.type]
    why = f"'{norms[0]}' normalises each part by itself" if norms else (
        "a loss that is no mean over rows, batch normalisation or random numbers make that"
    )  # fmt: skip
    return GradstepError(
        f"the mean of the parts' gradients is not that of the whole batch: '{where}' is "
        f"{worst:.1%} of its largest element apart",
        kind="Warning",
        hint=f"{why}; train on one process for the same numbers",
    )
