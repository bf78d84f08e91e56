"""Whatever was done to a document: an engine with another one open holds what a new one holds."""

from __future__ import annotations

import gc
import threading
from collections import Counter

import pytest

from gradstep.core.host.engine_service import EngineService
from gradstep.core.memory_release import release_memory
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.protocol import messages as m
from tests.soak.engines import ServiceEngine
from tests.soak.faults import Counts
from tests.soak.user import ProtocolUser
from tests.soak.walk import Walk

ANOTHER = (EXAMPLES / "control_dependencies.gradstep").read_bytes()


def opened_after(walks: range) -> EngineService:
    """An engine in which the documents of those walks were used, each after the other, and then
    another one was opened."""
    engine = ServiceEngine(Counts())
    service = engine._service
    for seed in walks:
        Walk(seed, ProtocolUser(engine, Counts()), Counts(), looks=False).go()
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
