"""Lineages are alike where runs are alike, whichever way a session came there."""

from __future__ import annotations

import numpy as np

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.debug.history.random_streams import seeded
from gradstep.core.host.program_reports import report_stop
from tests.core.debug.conftest import floats
from tests.core.debug.motion.test_training import noisy


def told(threads: Scheduler) -> list[tuple[int, str]]:
    return report_stop(threads).lineage


def given_at(place: str, values: dict[str, np.ndarray]) -> Scheduler:
    threads = Scheduler(noisy())
    threads.command("run_to", place)
    threads.inject(values)
    return threads


def test_nothing_was_given_and_nothing_edited() -> None:
    threads = Scheduler(noisy())
    threads.command("run_to", "3:2")
    assert told(threads) == []


def test_what_is_given_makes_another_line_from_its_run_on() -> None:
    first, second = {"w": floats(0, 1, 2)}, {"w": floats(2, 1, 0)}
    threads = given_at("3:2", first)
    ((run, digest),) = told(threads)
    assert run == 3
    assert told(given_at("3:2", first)) == [(run, digest)]
    for other in (
        given_at("3:2", second),
        given_at("3:4", first),
        given_at("3:2", {"x": first["w"]}),
    ):
        assert told(other)[0][0] == 3
        assert told(other) != [(run, digest)]
    threads.command("run_to", "5:1")
    threads.inject(second)
    assert [line[0] for line in told(threads)] == [3, 5]
    assert told(threads)[0] == (3, digest)
    threads.switch_branch("main")
    assert told(threads) == []


def test_the_same_after_a_restart_is_the_same_line() -> None:
    threads = given_at("2:1", {"w": floats(0, 1, 2)})
    before = told(threads)
    threads.command("restart")
    assert told(threads) == []
    threads.command("run_to", "2:1")
    threads.inject({"w": floats(0, 1, 2)})
    assert told(threads) == before


def test_other_random_numbers_are_another_line() -> None:
    found = []
    for seed in (1, 1, 2):
        threads = Scheduler(noisy())
        threads.command("run_to", "1:0")
        threads.inject(seeded(threads.session, seed))
        found.append(told(threads))
    assert found[0] == found[1] != found[2]
    assert [run for run, _ in found[0]] == [1]


def test_large_arrays_of_the_same_numbers_are_alike_however_memory_holds_them() -> None:
    def digest(array: np.ndarray) -> str:
        return Assignment(0, 0, "", {"w": array}).digest

    one, varied = np.float32(3), np.arange(4096, dtype=np.float32)
    held = np.broadcast_to(one, (1 << 20, 1 << 20))  # 4 TiB, if it were spread out
    assert digest(held[:64, :64]) == digest(np.full((64, 64), one))
    different = (held, held[:64, :64], held[:32, :128], held[:64, :32], varied, varied[::-1])
    assert len({*map(digest, different)}) == len(different)
