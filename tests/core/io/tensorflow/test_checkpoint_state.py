"""The list of checkpoints beside them: TensorFlow's, and ours; names of all kinds."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.io.tensorflow.checkpoint_state import newest_in, write_state

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1)


@given(st.lists(NAMES, min_size=1, max_size=3))
def test_the_newest_is_the_last(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_state(Path(folder), names)
        assert newest_in(Path(folder)) == Path(folder) / names[-1]


def test_it_is_what_tensorflow_writes(tmp_path: Path) -> None:
    write_state(tmp_path, ["model.ckpt-1", "model.ckpt-2"])
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "model.ckpt-2"\n'
        'all_model_checkpoint_paths: "model.ckpt-1"\n'
        'all_model_checkpoint_paths: "model.ckpt-2"\n'
    )


@pytest.mark.parametrize(
    ("text", "newest"),
    [
        ('# ours\n  model_checkpoint_path : "a\\"b"', 'a"b'),
        ('model_checkpoint_path: "caf\\303\\251.ckpt-7"', "café.ckpt-7"),
        ('model_checkpoint_path: "/elsewhere/model.ckpt-3"\nall_model', "/elsewhere/model.ckpt-3"),
        ("", None),
        ('all_model_checkpoint_paths: "a"', None),
    ],
)
def test_how_others_write_it(tmp_path: Path, text: str, newest: str | None) -> None:
    (tmp_path / "checkpoint").write_text(text)
    assert newest_in(tmp_path) == (None if newest is None else tmp_path / newest)


def test_without_one_there_is_none(tmp_path: Path) -> None:
    assert newest_in(tmp_path) is None
