"""The decision surface: against NumPy by hand, and drawn beside a training that is not touched."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradstep.core.data.built_in_sets import SETS
from gradstep.core.host import decision_surface
from gradstep.core.host.decision_surface import SIDE, SurfaceArtist, certainty
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.core.host.test_row_judgement import classified, opened, trained, values
from tests.examples.networks import digits_in_batches, two_spirals
from tests.support.spirals import WIDTHS, spirals


def logits_at(service: EngineService, points: np.ndarray) -> np.ndarray:
    """By hand."""
    names = [f"{name}{n}" for n in range(3) for name in "wb"]
    arrays = [*map(np.float64, values(service, *names))]
    for number, shape in enumerate(itertools.pairwise(WIDTHS)):
        points = points @ arrays[2 * number].reshape(shape) + arrays[2 * number + 1]
        points = np.tanh(points) if number < 2 else points
    return points[:, 0]


def test_each_point_is_what_the_network_says_of_it() -> None:
    service = opened(spirals())
    trained(service, 60)
    found = classified(service, share="held")
    surface = found.surface
    assert surface is not None
    x0, x1, y0, y1 = surface.bounds
    assert (surface.side, x1 - x0) == (SIDE, pytest.approx(y1 - y0))
    grid = np.array([(x, y) for y in np.linspace(y1, y0, SIDE) for x in np.linspace(x0, x1, SIDE)])
    share = 1 / (1 + np.exp(-logits_at(service, grid)))
    classes = np.frombuffer(surface.classes, np.uint8)
    sure = np.frombuffer(surface.sure, np.uint8) / 255
    clear = np.abs(share - 0.5) > 1e-4
    np.testing.assert_array_equal(classes[clear], (share > 0.5)[clear])
    np.testing.assert_allclose(sure, np.maximum(share, 1 - share), atol=0.003)
    assert {*classes.tolist()} == {0, 1}, "or this tests nothing"


def test_the_rows_lie_on_it_where_the_data_has_them() -> None:
    service = opened(spirals())
    found = classified(service, share="held", worst=3)
    parts = SETS["spirals"].parts
    rows = np.array([point.row for point in found.points])
    assert len(rows) == found.counted == 100
    np.testing.assert_array_equal([(p.x, p.y) for p in found.points], parts["x"][rows])
    assert [p.actual for p in found.points] == parts["y"][rows, 0].tolist()
    assert [p.row for p in found.points[:3]] == [row.row for row in found.worst]
    assert found.surface is not None
    x0, x1, y0, y1 = found.surface.bounds
    low, high = parts["x"].min(axis=0), parts["x"].max(axis=0)
    assert (np.array([x0, y0]) < low).all()
    assert (np.array([x1, y1]) > high).all()


@pytest.mark.slow
def test_it_is_drawn_while_a_network_is_trained_of_which_nothing_changes() -> None:
    events: list[m.Event] = []
    looked, alone = EngineService(CpuOnly(), events.append), opened(spirals(dropout=True))
    looked.handle(m.Open(), (gradstep_file.to_bytes(spirals(dropout=True)),))
    for surface, service in ((True, looked), (False, alone)):
        reply, _ = service.handle(m.Train(steps=50, surface=surface))
        assert isinstance(reply, m.Trained)
        assert reply.made == 50
    drawn = [event for event in events if isinstance(event, m.SurfaceDrawn)]
    assert drawn
    assert all(0 <= event.run < 50 and len(event.classes) == SIDE * SIDE for event in drawn)
    for one, other in zip(values(looked, "w0", "w2"), values(alone, "w0", "w2"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_drawn_in_training_is_that_of_the_same_step_looked_at_later() -> None:
    events: list[m.Event] = []
    service = EngineService(CpuOnly(), events.append)
    service.handle(m.Open(), (gradstep_file.to_bytes(spirals()),))
    service.handle(m.Train(steps=1, surface=True))
    (drawn,) = (event for event in events if isinstance(event, m.SurfaceDrawn))
    assert classified(service).surface == drawn


def test_a_network_of_other_inputs_has_none_and_is_trained_all_the_same() -> None:
    events: list[m.Event] = []
    service = EngineService(CpuOnly(), events.append)
    service.handle(m.Open(), (gradstep_file.to_bytes(digits_in_batches()),))
    reply, _ = service.handle(m.Train(steps=3, surface=True))
    assert isinstance(reply, m.Trained)
    assert reply.made == 3
    assert not any(isinstance(event, m.SurfaceDrawn) for event in events)
    assert classified(service).surface is None


class Slow:
    """A surface that takes so long, by a clock of its own."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds, self.drawn = 0.0, seconds, 0

    def draw(self, run: int, variables: object) -> m.SurfaceDrawn:
        self.now += self.seconds
        self.drawn += 1
        return m.SurfaceDrawn(run=run, side=0, bounds=[], classes=b"", sure=b"")


@given(st.floats(1e-4, 2.0), st.floats(1e-3, 0.2))
def test_drawing_takes_its_share_of_the_time_and_no_more(drawing: float, step: float) -> None:
    slow = Slow(drawing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision_surface, "perf_counter", lambda: slow.now)
        artist = SurfaceArtist(slow, lambda event: None)  # type: ignore[arg-type]
        for run in range(2000):
            slow.now += step
            artist.note(run, dict)
    spent, most = slow.drawn * drawing, slow.now / decision_surface.INTERVAL + 1
    assert spent <= drawing + decision_surface.SHARE * slow.now * 1.001
    assert 1 <= slow.drawn <= most
    assert slow.drawn >= slow.now / (max(0.25, drawing / 0.03) + step) * 0.9 - 1, "nor much less"


@given(
    arrays.arrays(
        np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.floats(-800, 800)
    )
)
def test_certainty_is_the_largest_probability(logits: np.ndarray) -> None:
    classes, sure = certainty(logits)
    known = max(logits.shape[1], 2)
    assert ((sure >= 1 / known - 1e-12) & (sure <= 1)).all()
    if logits.shape[1] == 1:
        np.testing.assert_array_equal(classes, logits[:, 0] > 0)
    else:
        np.testing.assert_array_equal(classes, logits.argmax(axis=1))


def test_the_example_begins_with_the_loss_that_numpy_has() -> None:
    document = two_spirals()
    (expected,) = document.expectations
    service = opened(document)
    batch, _ = service.handle(m.LookAtBatch(run=0))
    assert isinstance(batch, m.BatchSeen)
    x, y = (SETS["spirals"].parts[name][batch.rows] for name in "xy")
    logits = logits_at(service, x.astype(np.float64))
    losses = np.maximum(logits, 0) - logits * y[:, 0] + np.log1p(np.exp(-np.abs(logits)))
    assert expected.value is not None
    assert float(np.mean(losses)) == pytest.approx(float(expected.value.array), rel=1e-5)
