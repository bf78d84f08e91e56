"""Files read by a process of their own: what comes back, and what is said when nothing does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.host import document_message
from gradstep.core.host.document_message import DocumentSent, pack, unpack
from gradstep.core.host.file_reader import ROOT, FileReader
from gradstep.core.host.file_worker import ReadFile
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.typing.inference import infer, infer_declared
from gradstep.core.program import sandbox
from gradstep.core.protocol import framing
from tests.support import onnx_models as onnx
from tests.support import saved_models
from tests.support.each_case import each_of
from tests.support.forked_engine import Server, fork_readers

EXAMPLES = sorted((Path(__file__).parents[3] / "assets" / "examples").glob("*.gradstep"))


@pytest.fixture
def reader() -> Iterator[FileReader]:
    """Started as users have it."""
    process = FileReader()
    yield process
    process.close()


@pytest.fixture
def forked_readers(engine_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """To start Python with what reading takes is most of its time; what is forked has imported all,
    so that which modules there are before it confines itself is for the others to hold."""
    fork_readers(engine_server, monkeypatch)


def same(path: Path, document: Document) -> None:
    assert gradstep_file.to_bytes(document) == gradstep_file.to_bytes(read(path))


@pytest.mark.slow
@each_of("path", EXAMPLES, lambda path: path.stem)
def test_what_is_sent_is_what_is_read(path: Path) -> None:
    document = read(path)
    graph = with_placeholders(document).graph
    message, buffers = pack(document, infer_declared(graph))
    again, known = unpack(message, buffers, Budget())
    same(path, again)
    fresh = infer(with_placeholders(again).graph)
    assert known.types.of == fresh.types.of
    assert known.problems == fresh.problems
    assert known.constants.keys() == fresh.constants.keys()
    for name, value in fresh.constants.items():
        np.testing.assert_array_equal(known.constants[name], value)
    assert infer_declared(with_placeholders(again).graph) is known


def test_large_arrays_share_the_memory_that_they_came_in() -> None:
    value = Constant(np.arange(100.0, dtype=np.float32))
    splat = Constant(np.zeros(1 << 20))
    document = Document(feeds={"a:0": value, "b:0": value, "c:0": splat})
    message, buffers = pack(document, infer_declared(document.graph))
    assert len(message.arrays) == 1
    again, _ = unpack(message, buffers, Budget())
    assert again.feeds == document.feeds
    assert again.feeds["a:0"].array.ctypes.data == again.feeds["b:0"].array.ctypes.data


@pytest.mark.parametrize(
    "spoil",
    [
        lambda message, buffers: (message, buffers[:1]),
        lambda message, buffers: (message, [b"[]", *buffers[1:]]),
        lambda message, buffers: (message, [*buffers[:2], b"\xc0"]),
        lambda message, buffers: (msgspec.structs.replace(message, arrays=[]), buffers),
        lambda message, buffers: (
            msgspec.structs.replace(
                message,
                arrays=[document_message.Array("tensors/0", 3, DType.FLOAT32, [1 << 62, 0])],
            ),
            buffers,
        ),
    ],
)
def test_nonsense_from_the_process_is_an_error(
    spoil: Callable[[DocumentSent, list[bytes]], tuple[DocumentSent, list[bytes]]],
) -> None:
    document = Document(feeds={"a:0": Constant(np.arange(100.0))})
    with pytest.raises(GradstepError) as caught:
        unpack(*spoil(*pack(document, infer_declared(document.graph))), Budget())
    assert caught.value.kind == "ProtocolError"


@pytest.mark.usefixtures("forked_readers")
def test_a_process_reads_one_file_and_is_gone() -> None:
    path, reader = EXAMPLES[0], FileReader()
    document, _ = reader.read(path)
    same(path, document)
    with pytest.raises(ProcessLookupError):
        os.kill(reader.pid, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_readers")
def test_what_is_wrong_with_a_file_is_said_as_elsewhere(tmp_path: Path) -> None:
    gradstep_file.save(tmp_path / "tutorial.gradstep", Document())
    for path, limit in ((tmp_path / "toturial.gradstep", 1 << 30), (EXAMPLES[0], 1000)):
        with pytest.raises(GradstepError) as here:
            read(path, Budget(limit))
        with pytest.raises(GradstepError) as there:
            FileReader().read(path, limit)
        assert there.value.__reduce__() == here.value.__reduce__()
    assert isinstance(there.value, OverBudgetError)


def slow_file(folder: Path) -> Path:
    """One that takes many seconds."""
    path = folder / "slow.pbtxt"
    path.write_text("".join(f'node {{ name: "n{i}" op: "NoOp" }}\n' for i in range(250_000)))
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("forked_readers")
def test_a_process_that_is_killed_and_one_that_takes_too_long(tmp_path: Path) -> None:
    path = slow_file(tmp_path)
    reader = FileReader()
    threading.Timer(0.3, os.kill, (reader.pid, signal.SIGSEGV)).start()
    with pytest.raises(GradstepError, match=r"slow.pbtxt.*killed by SIGSEGV") as caught:
        reader.read(path)
    assert caught.value.kind == "ReaderDied"
    start = time.monotonic()
    with pytest.raises(GradstepError, match=r"more than 0\.2 seconds") as caught:
        FileReader().read(path, seconds=0.2)
    assert caught.value.kind == "DeadlineExceededError"
    assert time.monotonic() - start < 10


@pytest.mark.skipif(bool(sandbox.why_not()), reason=f"no sandbox: {sandbox.why_not()}")
@pytest.mark.slow
def test_foreign_bytes_are_read_without_files_and_network(tmp_path: Path) -> None:
    """What the process does before it looks at the first of them, and what it can do then."""
    victim = tmp_path / "secret.txt"
    victim.write_text("secret")
    script = f"""
        import os, socket, sys
        from gradstep.core.host import file_worker
        from gradstep.core.program import sandbox
        file_worker.prepare()
        file_worker.confine(file_worker.ReadFile(path="x.pb", limit=1 << 30, seconds=60))
        attempts = {{
            "read": lambda: open({str(victim)!r}), "write": lambda: open({str(victim)!r}, "w"),
            "connect": lambda: socket.socket(), "start": os.fork,
        }}
        for name, attempt in attempts.items():
            try:
                attempt()
            except OSError:
                continue
            print(name)
        print(sandbox.is_confined(), len(os.environ))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["True", "0"], done.stderr


def with_a_part(folder: Path, place: str) -> Path:
    """A model whose weight is there."""
    made = onnx.graph([onnx.node("Identity", "w", "y")], {}, {})
    made.output.add(name="y")
    held = made.initializer.add(name="w", data_type=1, dims=[3], data_location=1)
    held.external_data.add(key="location", value=place)
    (folder / "model.onnx").write_bytes(onnx.model(made))
    return folder / "model.onnx"


@pytest.mark.slow
def test_parts_beside_a_model_are_read(reader: FileReader, tmp_path: Path) -> None:
    """In the confined process, which has all that takes when it begins."""
    weight = np.float32([1, 2, 3])
    (tmp_path / "weights.bin").write_bytes(weight.tobytes())
    document, _ = reader.read(with_a_part(tmp_path, "weights.bin"))
    np.testing.assert_array_equal(document.initial["w"].array, weight)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_readers")
def test_nothing_but_parts_beside_a_model_is_read(tmp_path: Path) -> None:
    """From the folder of an .onnx alone."""
    for name in ("weights.bin", ".hidden"):
        (tmp_path / name).write_bytes(bytes(12))
    places = [".hidden"] if not sandbox.why_not() else []
    for place in [*places, "nowhere", "../weights.bin"]:
        with pytest.raises(GradstepError, match=r"model\.onnx.*cannot be read"):
            FileReader().read(with_a_part(tmp_path, place))


@pytest.mark.slow
def test_what_is_in_the_folders_of_a_model_is_read(tmp_path: Path) -> None:
    """In the confined process: variables and assets of a SavedModel, the checkpoint of a .meta."""
    for name, variable in (("tf2_tables", "rows"), ("tf1_sharded", "w")):
        facts = saved_models.unpack(name, tmp_path)
        document, *_ = FileReader().read(facts.open)
        assert document.initial[variable].array.any()


@pytest.mark.slow
@pytest.mark.usefixtures("forked_readers")
def test_a_process_that_reads_ends_when_nobody_waits(tmp_path: Path) -> None:
    """As when the window is killed: it cannot tell it to."""
    reader = FileReader()
    assert reader._process.stdin is not None
    framing.write(
        reader._process.stdin,
        ReadFile(path=str(slow_file(tmp_path)), limit=1 << 30, seconds=60),
        request=1,
    )
    time.sleep(0.2)
    reader._process.stdin.close()
    assert reader._process.wait(10) == 0
    reader.close()
