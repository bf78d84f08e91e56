"""The example that is trained in batches, from the window's message to NumPy by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.data.built_in_sets import SETS
from gradstep.core.data.row_numbers import SPLIT
from gradstep.core.data.row_order import row_order
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.examples.networks import digits_in_batches

BATCH, EPOCHS = 32, 2
IMAGES = SETS["digits"].parts["images"].reshape(-1, 64) / 16
LABELS = np.eye(10)[SETS["digits"].parts["labels"]]


def by_hand() -> tuple[list[float], list[float]]:
    """The loss of each step, and after each epoch over the rows that are held back."""
    order = row_order(len(IMAGES), 7, SPLIT)
    share = int(0.2 * len(IMAGES))
    held, train = order[:share], np.sort(order[share:])
    w, b = np.zeros((64, 10)), np.zeros(10)
    losses, validation = [], []
    for epoch in range(EPOCHS):
        rows = train[row_order(len(train), 7, epoch)]
        for batch in np.split(rows, range(BATCH, len(rows), BATCH)):
            loss, p = forward(w, b, batch)
            losses.append(loss)
            g = (p - LABELS[batch]) / len(batch)
            w, b = w - 0.5 * IMAGES[batch].T @ g, b - 0.5 * g.sum(axis=0)
        validation.append(forward(w, b, held)[0])
    return losses, validation


def forward(w: np.ndarray, b: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
    logits = IMAGES[rows] @ w + b
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -float(np.mean(np.log((p * LABELS[rows]).sum(axis=1)))), p


@pytest.fixture(scope="module")
def answers() -> tuple[EngineService, list[m.Event], m.Opened]:
    events: list[m.Event] = []
    service = EngineService(CpuOnly(), events.append)
    opened, _ = service.handle(m.Open(), (gradstep_file.to_bytes(digits_in_batches()),))
    assert isinstance(opened, m.Opened)
    return service, events, opened


def test_the_window_is_told_what_there_is_and_trains_as_numpy_does_by_hand(
    answers: tuple[EngineService, list[m.Event], m.Opened],
) -> None:
    service, events, opened = answers
    assert opened.program.data == m.DataInfo(rows=1438, held=359, batch=32, per_epoch=45)
    assert opened.stopped.batch.startswith("batch 1 of epoch 1, rows ")
    wish = m.Train(
        steps=EPOCHS * 45, curves=['x["loss:0"]'], losses=["loss:0"], validate=["loss:0"]
    )
    reply, _ = service.handle(wish)
    assert isinstance(reply, m.Trained)
    assert (reply.made, reply.stopped.run) == (90, 89)
    assert reply.stopped.batch.startswith("batch 45 of epoch 2, rows ")
    told = [event for event in events if isinstance(event, m.TrainingProgress)]
    numbers = [
        np.concatenate(c) for c in zip(*(map(np.frombuffer, t.columns) for t in told), strict=True)
    ]
    losses, validation = by_hand()
    np.testing.assert_allclose(numbers[0], losses, rtol=1e-4)
    np.testing.assert_allclose(numbers[1][[44, 89]], validation, rtol=1e-4)
    assert np.isnan(numbers[1][:44]).all()
    assert (numbers[1][45:89] == numbers[1][44]).all()


def test_the_rows_of_a_batch_can_be_looked_at(
    answers: tuple[EngineService, list[m.Event], m.Opened],
) -> None:
    service, _, _ = answers
    seen, _ = service.handle(m.LookAtBatch(run=46, limit=5))
    assert isinstance(seen, m.BatchSeen)
    assert seen.text.startswith("batch 2 of epoch 2, rows ")
    assert (len(seen.rows), seen.size, seen.changed) == (5, 32, [])
    images, labels = seen.columns
    assert (images.tensor, labels.tensor) == ("images:0", "labels:0")
    first = LABELS[seen.rows[0]]
    assert labels.cells[0].split()[: len(first)] == [f"{x:g}" for x in first]
    assert service.handle(m.LookAtBatch(run=0))[0].run == 0
