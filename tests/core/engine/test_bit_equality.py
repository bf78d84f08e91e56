"""Both layouts, with whatever passes, and the debugger: the same bits of everything one can see.

Of the passes those that promise it; what the others promise, test_rounding checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import rewritings
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.program.derive import derive
from tests.examples.build import FOLDER, THREADED
from tests.support import conds
from tests.support.layouts import (
    EXACT,
    Case,
    Seen,
    assert_same,
    check,
    passes,
    run,
    run_once,
    session,
)
from tests.support.small_workloads import WORKLOADS, workload

ALONE = sorted(p.stem for p in Path(FOLDER).glob("*.gradstep") if p.stem not in THREADED)
EXAMPLES = [f"example {stem}" for stem in ALONE]
NAMES = [*WORKLOADS, "conds", *EXAMPLES]


def example(stem: str) -> Case:
    program = derive(load(Path(FOLDER) / f"{stem}.gradstep"), trusted=True)
    feeds = dict(program.feeds)
    if stem.startswith("gather"):  # its point is an index that is not there
        feeds = {ref: np.clip(x, 0, 4) if ref.op == "indices" else x for ref, x in feeds.items()}
    case = Case(
        program.graph,
        program.fetches,
        program.targets,
        feeds,
        program.initial,
        program.functions,
    )
    values = session(case, fast=False).values(case.fetches, feeds)
    alive = zip(case.fetches, values, strict=True)
    return case.fetching([ref for ref, value in alive if value is not None])


@pytest.fixture(autouse=True)
def exact() -> Iterator[None]:
    with passes(EXACT):
        yield


@pytest.fixture(params=NAMES, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def case(name: str) -> Case:
    kind, _, stem = name.partition(" ")
    if kind == "conds":
        return conds.trained()
    return example(stem) if stem else workload(kind)


@pytest.fixture(scope="module")
def want(case: Case) -> list[Seen]:
    """What it shows where every value has a place of its own."""
    return run(case, fast=False)


def test_layouts_and_debugger_agree(case: Case, want: list[Seen]) -> None:
    (first, *_) = check(case, want=want)
    assert not first.error
    assert first.fetched


def test_every_set_of_passes_gives_the_same(name: str, case: Case, want: list[Seen]) -> None:
    """None, each alone, and all but each; of one case a third of these, of the next one others.
    Sets that differ in what finds nothing to do make one and the same plan, which is run once."""
    feeds = infer_fed_types(feed_arrays(case.graph, case.feeds))
    plan = compile_plan(case.graph, case.fetches, case.targets, feeds)
    names, known = set(EXACT), set()
    sets = [*({n} for n in EXACT), *(names - {n} for n in EXACT)]
    for chosen in [set(), *sets[NAMES.index(name) % 3 :: 3]]:
        with passes(chosen):
            if (done := _at_work(plan)) not in known:
                known.add(done)
                assert_same(want[:2], run(case, fast=True, runs=2), f"passes {sorted(chosen)}")


def _at_work(plan: Plan) -> tuple[str, ...]:
    """The passes that make another plan of it, one after another."""
    made = rewritings(plan, NumpyBackend())
    return tuple(each.name for each, before, after in made if after is not before)


def test_sessions_go_on_alike(name: str, case: Case, want: list[Seen]) -> None:
    """Of one case in turns with another session, of the next one with other fetches in each run."""
    if NAMES.index(name) % 2:
        _check_turns(case, want)
    else:
        _check_fetches(case)


def _check_fetches(case: Case) -> None:
    """The same fetches in other orders and parts; by one session, whose variables go on."""
    random = np.random.default_rng(1)
    plain, fast = session(case, fast=False), session(case, fast=True)
    for _ in range(2):
        count = int(random.integers(0, len(case.fetches) + 1))
        some = [case.fetches[i] for i in random.permutation(len(case.fetches))[:count]]
        part = case.fetching(some)
        assert_same([run_once(plain, part)], [run_once(fast, part)], f"fetches {some}")


def _check_turns(case: Case, want: list[Seen]) -> None:
    """Two fast ones taking turns, one of them ahead."""
    first, second = session(case, fast=True), session(case, fast=True)
    a = [run_once(first, case)]
    b = []
    for _ in range(2):
        b.append(run_once(second, case))
        a.append(run_once(first, case))
    assert_same(want, a)
    assert_same(want[:2], b)
