"""`--sandbox`: the document's Python runs, and reaches nothing but what the command names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeKind
from gradstep.core.io.native import gradstep_file
from gradstep.core.program import sandbox
from gradstep.core.program.sandbox import landlock
from tests.support.forked_engine import ForkedCommand, Server

Command = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[3]
SOURCE = """
import os
def forward(c, k, d):
    for path in ({file!r}, {feed!r}, {other!r}):
        try:
            print("read", os.path.basename(path), len(open(path, "rb").read()) > 0)
        except OSError as error:
            print("refused", os.path.basename(path))
    print("token", "MY_TOKEN" in os.environ)
    return c + k
"""

pytestmark = pytest.mark.skipif(
    bool(sandbox.why_not()) or not landlock.abi(), reason="the kernel has no Landlock"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A document that tries to read itself, a file that is fed, and another."""
    np_save(tmp_path / "fed.npy")
    (tmp_path / "other").write_text("mine")
    paths = {name: str(tmp_path / name) for name in ("d.gradstep", "fed.npy", "other")}
    document = gradstep_file.load(ROOT / "assets" / "examples" / "override_add.gradstep")
    item = next(i for i in document.code.values() if i.kind is CodeKind.PYFUNC)
    source = SOURCE.format(file=paths["d.gradstep"], feed=paths["fed.npy"], other=paths["other"])
    gradstep_file.save(
        tmp_path / "d.gradstep", document_edits.set_code(document, replace(item, source=source))
    )
    return tmp_path / "d.gradstep"


def np_save(path: Path) -> None:
    import numpy as np

    np.save(path, np_array([1.0, 2.0]))


def np_array(numbers: list[float]) -> Any:
    import numpy as np

    return np.array(numbers, np.float32)


@pytest.fixture
def gradstep(engine_server: Server) -> Command:
    """The command, in a process that it confines; the first test has one as users have it."""
    return lambda *arguments: ForkedCommand(engine_server, arguments).communicate()


@pytest.mark.slow
def test_it_reads_what_is_named_and_nothing_else(file: Path) -> None:
    fed = f"data=@{file.parent / 'fed.npy'}"
    done = subprocess.run(
        [sys.executable, ROOT / "main.py", "run", file, "--fetch=loss", "--feed", fed, "--sandbox"],
        env={**os.environ, "MY_TOKEN": "GR4D"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "0.66369414" in done.stdout
    assert done.stderr.splitlines()[:4] == [
        "read d.gradstep True", "read fed.npy True", "refused other", "token False"
    ]  # fmt: skip


@pytest.mark.slow
def test_a_folder_that_a_pattern_names_is_read(
    gradstep: Command, file: Path, tmp_path: Path
) -> None:
    from PIL import Image

    (tmp_path / "images").mkdir()
    Image.new("L", (3, 1)).save(tmp_path / "images" / "0.png")
    fed = f"data=@{tmp_path / 'images'}/*.png"
    done = gradstep("run", str(file), "--fetch", "loss", "--feed", fed, "--sandbox")
    assert "0.png has 1×3 pixels, which do not fit [2]" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", ["kept/m.ckpt-2", "kept/m.ckpt-2.index", "kept"])
def test_a_checkpoint_is_read_with_its_data(
    gradstep: Command, file: Path, tmp_path: Path, place: str
) -> None:
    from gradstep.core.io.tensorflow.bundle_writer import write_bundle
    from gradstep.core.io.tensorflow.checkpoint_state import write_state

    (tmp_path / "kept").mkdir()
    write_bundle(str(tmp_path / "kept/m.ckpt-2"), {"c": np_array([0.25, 0.5])})
    write_state(tmp_path / "kept", ["m.ckpt-2"])
    words = ("--restore", str(tmp_path / place), "--fetch", "c", "--sandbox", "--json")
    done = gradstep("run", str(file), *words)
    assert done.returncode == 0, done.stderr
    assert '"data": [0.25, 0.5]' in done.stdout


@pytest.mark.slow
def test_event_logs_are_written_and_documents_are_not(
    gradstep: Command, file: Path, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    done = gradstep("train", str(file), "--steps", "2", "--logdir", str(logs), "--sandbox")
    assert done.returncode == 0, done.stderr
    assert [*logs.iterdir()]
    done = gradstep("train", str(file), "--out", str(tmp_path / "o.gradstep"), "--sandbox")
    assert done.returncode == 2
    assert "--sandbox lets nothing be written but --logdir" in done.stderr
    assert not (tmp_path / "o.gradstep").exists()


@pytest.mark.slow
def test_doctor_says_what_there_is(gradstep: Command) -> None:
    done = gradstep("doctor")
    assert f"Landlock, version {landlock.abi()}" in done.stdout
    assert "PR_SET_PDEATHSIG" in done.stdout
