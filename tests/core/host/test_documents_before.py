"""Whatever was done to a document: an engine with another one open holds what a new one holds."""

from __future__ import annotations

import functools
import gc
import linecache
import sys
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.memory_release import forget_memos, release_memory
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.protocol import messages as m
from tests.soak.engines import ServiceEngine
from tests.soak.faults import Counts
from tests.soak.user import ProtocolUser
from tests.soak.walk import Walk

OF_NO_DOCUMENT = {
    "gradstep.core.debug.motion.legal_moves.legal_names",  # a table of four rows
    "gradstep.core.native_extension.extension",  # modules and libraries that are loaded
    "gradstep.core.memory_release._trim",
    "gradstep.core.protocol.framing._decoder",
}

_MOVES = 60  # of a walk
ANOTHER = (EXAMPLES / "control_dependencies.gradstep").read_bytes()


def opened_after(walks: range) -> EngineService:
    """An engine in which the documents of those walks were used, each after the other, and then
    another one was opened."""
    engine = ServiceEngine(Counts())
    service = engine._service
    for seed in walks:
        Walk(seed, ProtocolUser(engine, Counts()), Counts(), looks=False).go(_MOVES)
    service.handle(m.Open(), [ANOTHER])
    return service


def held() -> Counter[str]:
    """How many objects of this program's own classes there are, by class."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):  # of requests that were answered in time
            thread.join()
    release_memory()
    kinds = Counter(map(type, gc.get_objects()))
    return Counter(
        {f"{kind.__module__}.{kind.__qualname__}": n for kind, n in kinds.items() if is_ours(kind)}
    )


def is_ours(kind: type) -> bool:
    """But for messages: who drives the engine keeps some."""
    module = str(kind.__module__)
    return module.startswith("gradstep.core.") and ".protocol." not in module


@pytest.mark.slow
@pytest.mark.parametrize("walks", [range(245, 246), range(27, 28)], ids=str)
def test_nothing_of_those_before_stays(walks: range) -> None:
    opened_after(walks)  # what is made once in a process is there from now on
    before = held()
    service = opened_after(range(0))
    alone = held() - before
    del service
    service = opened_after(walks)
    now = held() - before
    assert +now == +alone
    operations, _ = names_of(service._threads.program.graph).everything()
    assert operations == {name.lower() for name in service._threads.program.graph.operations}


@pytest.mark.parametrize("name", ["lstm", "custom_grad_identity", "cnn_digits"])
def test_what_is_kept_of_kinds_of_operations_goes_with_the_document(name: str) -> None:
    """It is little, but each of its objects holds a mebibyte that was full of the document."""
    forget_memos()
    before = dict(memos())
    service = EngineService(CpuOnly())
    reply, _ = service.handle(m.Open(trusted=True), [(EXAMPLES / f"{name}.gradstep").read_bytes()])
    assert isinstance(reply, m.Opened), reply
    service.handle(m.Control(command="continue"))
    service.handle(m.Notate(ops=[step.op for step in reply.program.steps]))
    forget_memos()
    assert {name for name, size in memos() if size > before.get(name, 0)} <= OF_NO_DOCUMENT


def memos() -> Iterator[tuple[str, int]]:
    """Every functools memo of this program's modules, and how much it remembers."""
    for module in [
        module for name, module in sys.modules.items() if name.startswith("gradstep.core.")
    ]:
        for holder in [module, *(kind for kind in vars(module).values() if isinstance(kind, type))]:
            for memo in vars(holder).values():
                if isinstance(memo, functools._lru_cache_wrapper):
                    yield f"{memo.__module__}.{memo.__qualname__}", memo.cache_info().currsize


def test_tracebacks_show_no_code_of_a_document_that_was_closed() -> None:
    service = EngineService(CpuOnly())
    code = (EXAMPLES / "custom_grad_identity.gradstep").read_bytes()
    before = set(linecache.cache)
    service.handle(m.Open(trusted=True), [code])
    assert set(linecache.cache) - before
    service.handle(m.Open(), [ANOTHER])
    assert set(linecache.cache) <= before
