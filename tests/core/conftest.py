"""Documents and engines that the tests of the host share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.workers import worker_process
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import Message
from tests.support.forked_engine import ENTRY, ForkedWorker, Server, fork_engines

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"


@pytest.fixture
def example() -> Callable[[str], bytes]:
    """The bytes of an example that comes with the program."""
    return lambda name: (EXAMPLES / f"{name}.gradstep").read_bytes()


@pytest.fixture
def pyfunc_document() -> Callable[[str], Document]:
    """loss = sum of f(w) squared, w = [1, 2], f from Python source; GradientDescent on w."""

    def make(source: str) -> Document:
        builder = GraphBuilder()
        w = builder.variable("w", shape=[2])
        attrs = {"token": "f", "Tin": (DType.FLOAT32,), "Tout": (DType.FLOAT32,)}
        y = builder.one("PyFunc", w, name="y", **attrs)
        builder.one("Mul", w, w, name="square")
        builder.one("Mul", y, y, name="after")
        return Document(
            graph=builder.build(),
            request=GradientRequest.to("square", "w"),
            initial={"w": Constant([1.0, 2.0])},
            optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
            code={"f": CodeItem("f", CodeKind.PYFUNC, source)},
        )

    return make


@pytest.fixture
def pyfunc(pyfunc_document: Callable[[str], Document]) -> Callable[[str], bytes]:
    """The same as a file's bytes."""
    return lambda source: gradstep_file.to_bytes(pyfunc_document(source))


@pytest.fixture
def events() -> list[Message]:
    return []


@pytest.fixture
def service(events: list[Message]) -> EngineService:
    return EngineService(CpuOnly(), emit=events.append)


@pytest.fixture
def forked_workers(
    request: pytest.FixtureRequest, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of pools are forked, except where how they start is the test's subject."""
    if request.node.get_closest_marker("engine_process") is None:
        spawn = partial(ForkedWorker, engine_server)
        monkeypatch.setattr(worker_process, "_spawn", spawn)


@pytest.fixture
def deaths() -> list[GradstepError]:
    return []


@pytest.fixture
def client(
    request: pytest.FixtureRequest,
    events: list[Message],
    deaths: list[GradstepError],
    engine_server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[EngineClient]:
    """An engine of its own: forked, except where how it starts is the test's subject."""
    if request.node.get_closest_marker("engine_process") is None:
        fork_engines(engine_server, monkeypatch, ENTRY)
    engine = EngineClient(ENTRY, on_event=events.append, on_death=deaths.append)
    yield engine
    engine.close()
