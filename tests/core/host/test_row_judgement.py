"""Which rows a classifier gets wrong: against NumPy by hand, and with nothing changed by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.host import row_judgement
from gradstep.core.host.class_answers import MOST_CLASSES, most_confused, pictures
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.row_judgement import Judgement
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from tests.core.host.test_digits_in_batches import IMAGES, LABELS, forward
from tests.examples.networks import digits_in_batches, softmax_digits
from tests.support.spirals import spirals


def opened(document: object) -> EngineService:
    service = EngineService(CpuOnly())
    reply, _ = service.handle(m.Open(), (gradstep_file.to_bytes(document),))  # type: ignore[arg-type]
    assert isinstance(reply, m.Opened)
    return service


def trained(service: EngineService, steps: int) -> None:
    assert isinstance(service.handle(m.Train(steps=steps))[0], m.Trained)


def values(service: EngineService, *refs: str) -> list[np.ndarray]:
    reply, buffers = service.handle(m.Read(refs=[*refs], limit=10_000))
    assert isinstance(reply, m.Values)
    return [unpack(part, buffers) for part in reply.parts]


def classified(service: EngineService, **wish: object) -> m.Classified:
    reply, _ = service.handle(m.Classify(**wish))  # type: ignore[arg-type]
    assert isinstance(reply, m.Classified), reply
    return reply


@pytest.fixture(scope="module")
def digits() -> EngineService:
    service = opened(digits_in_batches())
    trained(service, 30)
    return service


@pytest.mark.parametrize(("share", "total"), [("held", 359), ("trained", 1438)])
def test_the_matrix_and_the_worst_rows_are_those_of_numpy(
    digits: EngineService, share: str, total: int
) -> None:
    weights, bias = values(digits, "softmax/weights:0", "softmax/bias:0")
    found = classified(digits, share=share, worst=2000)
    rows = np.array([row.row for row in found.worst])
    assert (found.counted, found.total, found.found, len(set(rows))) == (total,) * 4
    _, p = forward(weights.reshape(64, 10), bias, rows)
    actual, taken = LABELS[rows].argmax(axis=1), p.argmax(axis=1)
    losses = -np.log((p * LABELS[rows]).sum(axis=1))
    assert [row.actual for row in found.worst] == actual.tolist()
    assert [row.taken for row in found.worst] == taken.tolist()
    np.testing.assert_allclose([row.loss for row in found.worst], losses, rtol=1e-3, atol=1e-5)
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (actual, taken), 1)
    assert found.matrix == counts.reshape(-1).tolist()
    assert (found.right, found.classes) == ((actual == taken).sum(), [*range(10)])
    assert found.loss == pytest.approx(losses.mean(), rel=1e-4)


def test_a_cell_confines_the_worst_rows_and_rows_of_images_come_as_pictures(
    digits: EngineService,
) -> None:
    whole = classified(digits, worst=2000)
    actual, taken = next((r.actual, r.taken) for r in whole.worst if r.actual != r.taken)
    reply, buffers = digits.handle(m.Classify(actual=actual, taken=taken, worst=5))
    assert isinstance(reply, m.Classified)
    asked = [r for r in whole.worst if (r.actual, r.taken) == (actual, taken)]
    assert reply.worst == asked[:5]
    assert (reply.found, reply.picture, reply.input) == (len(asked), [8, 8, 1], "images:0")
    pixels = np.frombuffer(buffers[0], np.uint8).reshape(-1, 64)
    image = IMAGES[asked[0].row]
    np.testing.assert_array_equal(pixels[0], np.round(255 * image / image.max()))


def test_it_is_that_of_the_place_where_the_debugger_stands() -> None:
    service = opened(digits_in_batches())
    before = classified(service)
    trained(service, 20)
    assert classified(service).loss < before.loss
    service.handle(m.Control(command="run_to", target="0:0"))
    assert classified(service) == before


def test_looking_changes_nothing_that_a_training_counts() -> None:
    looked, alone = (opened(spirals(dropout=True)) for _ in range(2))
    for _ in range(3):
        trained(looked, 4)
        trained(alone, 4)
        found = classified(looked, share="trained", worst=1)
        assert (found.classes, found.counted, found.picture) == ([0, 1], 300, [])
        assert len(found.worst[0].cells.split()) == 2
    for one, other in zip(values(looked, "w0", "w2"), values(alone, "w0", "w2"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_data_the_rows_are_those_that_every_run_is_fed() -> None:
    found = classified(opened(softmax_digits()), share="held")
    assert (found.share, found.counted, found.total) == ("fed", 40, 40)


def test_when_time_is_short_some_rows_by_chance_tell_of_all(
    monkeypatch: pytest.MonkeyPatch, digits: EngineService
) -> None:
    monkeypatch.setattr(row_judgement, "SECONDS", -1.0)
    found = classified(digits, share="trained", worst=2000)
    assert (found.counted, found.total) == (256, 1438)
    assert max(row.row for row in found.worst) > 1500, "not the first rows of the data"


def test_no_rows_held_back_is_a_line() -> None:
    reply, _ = opened(spirals(validate=0.0)).handle(m.Classify(share="held"))
    assert isinstance(reply, m.Failed)
    assert (reply.error.message, reply.error.hint) == (
        "no rows are held back",
        "hold some back in the Data panel",
    )


LOSSES = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), LOSSES), min_size=1))
def test_worst_is_sorted_and_complete(rows: list[tuple[int, int, float]]) -> None:
    actual, taken, losses = (np.array(column) for column in zip(*rows, strict=True))
    found = Judgement(np.arange(len(rows)), actual, taken, losses, 4)
    assert found.matrix.sum() == (taken >= 0).sum()
    assert found.matrix.trace() == (actual == taken).sum()
    places = found.worst()
    assert sorted(places) == [*range(len(rows))]
    there = np.where(np.isnan(losses), np.inf, losses)[places]
    assert (there[:-1] >= there[1:]).all()
    for one in range(4):
        for other in range(4):
            part = found.worst(one, other)
            assert len(part) == found.matrix[one, other]
            assert part.tolist() == [p for p in places if (actual[p], taken[p]) == (one, other)]


def test_of_many_classes_those_that_are_confused_are_shown() -> None:
    matrix = np.diag(np.full(100, 9))
    matrix[97, 3] = matrix[50, 51] = 1
    part, classes = most_confused(matrix)
    assert len(classes) == MOST_CLASSES == len(part)
    assert {3, 50, 51, 97} <= {*classes.tolist()}
    assert part.sum() == 9 * MOST_CLASSES + 2


@pytest.mark.parametrize(
    ("shape", "least", "picture"),
    [
        ((5, 64), 0.0, (8, 8, 1)),
        ((5, 64), -1.0, None),
        ((5, 65), 0.0, None),
        ((5, 28, 28), 0.0, (28, 28, 1)),
        ((5, 32, 32, 3), -1.0, (32, 32, 3)),
        ((5, 3, 32, 32), 0.0, (32, 32, 3)),
        ((5, 300, 200, 1), 0.0, (75, 50, 1)),
        ((5, 2), 0.0, None),
    ],
)
def test_rows_that_are_images(
    shape: tuple[int, ...], least: float, picture: tuple[int, ...] | None
) -> None:
    rows = np.linspace(least, 1, int(np.prod(shape))).reshape(shape)
    found = pictures(rows)
    assert (None if found is None else found.shape[1:]) == picture
