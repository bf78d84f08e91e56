"""Event files read back: what was written, what others write, what is cut off or damaged."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboardX import SummaryWriter

from gradstep.core.errors import GradstepError
from gradstep.core.io.event_curves import EventRun, read_event_runs
from gradstep.core.io.event_files import EventFile
from gradstep.core.io.record_framing import Records, record
from gradstep.core.ops.formats.protobuf import bytes_field, float_field, int_field
from gradstep.core.ops.formats.summary_proto import number

POINTS = st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=8)


def written(folder: Path, values: list[float], tag: bytes = b"loss") -> Path:
    with EventFile(folder) as file:
        for step, value in enumerate(values, 1):
            file.add_summary(step, number(tag, value))
    return file.path


def only(path: Path) -> EventRun:
    (run,) = read_event_runs(path)
    return run


@given(POINTS, st.data())
def test_a_file_is_read_as_far_as_it_is_whole(values: list[float], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), values)
        whole = only(path)
        assert whole.curves["loss"].numbers == [np.float32(v) for v in values]
        assert whole.curves["loss"].steps == [*range(1, len(values) + 1)]
        assert not whole.notes
        content = path.read_bytes()
        ends = [0]
        for part in Records(content):
            ends.append(ends[-1] + 16 + len(part))
        at = data.draw(st.integers(1, len(content) - 1))
        path.write_bytes(content[:at])
        cut = only(path)
        known = sum(end <= at for end in ends[2:])  # behind the version's record
        assert len(cut.curves["loss"].steps if known else []) == known
        assert [note.partition(": ")[2][:7] for note in cut.notes] == ["cut off"] * (at not in ends)
        broken = bytearray(content)
        broken[at] ^= data.draw(st.integers(1, 255))
        path.write_bytes(broken)
        spoiled = only(path)
        known = sum(end <= at for end in ends[2:])
        assert len(spoiled.curves["loss"].steps if known else []) == known
        assert ["damaged at byte" in note for note in spoiled.notes] == [True]


def test_what_others_write(tmp_path: Path) -> None:
    writer = SummaryWriter(str(tmp_path / "a"))
    for step in range(3):
        writer.add_scalar("accuracy", step / 2, step)
        writer.add_histogram("w", np.arange(4.0), step)
    writer.close()
    run = only(tmp_path)
    assert run.name == "a"
    assert run.curves["accuracy"].numbers == [0.0, 0.5, 1.0]
    assert run.other == {"histograms": 3}


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (int_field(1, 1) + bytes_field(4, struct.pack("<f", 0.25)), 0.25),  # tf.summary.scalar
        (int_field(1, 2) + bytes_field(6, struct.pack("<d", 0.1)), 0.1),
        (int_field(1, 1) + float_field(5, 0.5), 0.5),
        (int_field(1, 9) + bytes_field(4, struct.pack("<q", -3)), -3.0),
        (int_field(1, 1) + bytes_field(4, bytes(8)), None),  # two numbers
        (int_field(1, 7) + bytes_field(8, b"text"), None),
    ],
)
def test_scalars_as_tensors(tmp_path: Path, tensor: bytes, value: float | None) -> None:
    with EventFile(tmp_path) as file:
        file.add_summary(4, bytes_field(1, bytes_field(1, b"x") + bytes_field(8, tensor)))
    run = only(tmp_path)
    if value is None:
        assert not run.curves
        assert run.other == {"tensors": 1}
    else:
        assert (run.curves["x"].steps, run.curves["x"].numbers) == ([4], [value])


def test_a_step_that_comes_again_takes_the_place_of_what_is_behind_it(tmp_path: Path) -> None:
    for values in ([1.0, 2.0, 3.0], [5.0]):
        written(tmp_path, values)
    assert only(tmp_path).curves["loss"].numbers == [5.0]


def test_events_that_are_none_are_counted_and_the_others_read(tmp_path: Path) -> None:
    path = written(tmp_path, [1.0])
    path.write_bytes(path.read_bytes() + record(b"\xff\xff") + record(b""))
    run = only(tmp_path)
    assert run.curves["loss"].numbers == [1.0]
    assert [note.split(": ")[1] for note in run.notes] == ["1 events could not be understood"]


def test_where_there_are_none_that_is_said(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(GradstepError, match="has no event files"):
            read_event_runs(path)
