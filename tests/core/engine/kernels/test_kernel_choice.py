"""Which kernels run: the reference unless asked, others where they are there and apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.kernels import kernel_choice
from gradstep.core.engine.kernels.kernel_alternative import Alternative, Use
from gradstep.core.engine.kernels.kernel_choice import REFERENCE_KERNELS, Kernels, with_kernels
from gradstep.core.engine.kernels.kernel_libraries import Library
from gradstep.core.engine.kernels.kernel_registry import ALTERNATIVES
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.layout_choice import laid_out
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import initial_store
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.system_rules import Rules
from tests.support.each_case import each_of


def opening(problem: Exception) -> Callable[[], Any]:
    def open_it() -> Any:
        raise problem

    return open_it


# numpy is a package that is there; what loads is of no interest here.
PRETEND = Library("Pretend", "numpy", lambda: None)
BROKEN = Library("Broken", "numpy", opening(OSError("no such symbol")))
ABSENT = Library("Absent", "a-package-that-nobody-has", opening(AssertionError("imported")))


def summing(op: Any) -> Callable[..., Any]:
    """A kernel that shows who computed: every sum is one more."""

    def kernel(data: Any, ids: Any, count: Any, out: Any = None) -> Any:
        total = np.zeros((int(count), *data.shape[1:]), data.dtype)
        np.add.at(total, ids, data)
        total += 1
        if out is None:
            return total
        out[...] = total
        return out

    return kernel


def alternative(library: Library, applies: Callable[[Use], bool] = lambda use: True) -> Alternative:
    return Alternative("UnsortedSegmentSum", library, "it", applies, "half", kernel=summing)


def sums(count_is_known: bool = True) -> tuple[GraphBuilder, str]:
    build = GraphBuilder()
    data = build.placeholder("data", "float32", (4, 2))
    ids = build.placeholder("ids", "int32", (4,))
    count: Any = np.int32(3)
    if not count_is_known:
        count = build.placeholder("count", "int32", ())
    return build, build.one("UnsortedSegmentSum", data, ids, count, name="sums").ref.short


FEEDS = {"data": np.ones((4, 2), np.float32), "ids": np.array([0, 2, 2, 0], np.int32)}


def plan_of(count_is_known: bool = True) -> Plan:
    graph = sums(count_is_known)[0].build()
    fed = [graph[n].output() for n in ("data", "ids", "count")[: 2 + (not count_is_known)]]
    return compile_plan(graph, [graph["sums"].output()], (), fed)


def chosen(plan: Plan, *alternatives: Alternative, **how: Any) -> dict[str, str]:
    """Operation -> the library that computes it."""
    libraries = how.get("libraries", tuple(a.library for a in alternatives))
    kernels = Kernels(libraries, how.get("optional", False))
    backend = how.get("backend", NumpyBackend())
    found = with_kernels(plan, backend, kernels, alternatives).kernels
    return {name: one.library.name for name, one in found.items()}


def test_the_reference_is_the_default() -> None:
    build, _ = sums()
    assert Session(build.build()).kernels == REFERENCE_KERNELS
    assert Kernels.of("reference") == Kernels.of(()) == REFERENCE_KERNELS
    plan = plan_of()
    assert with_kernels(plan, NumpyBackend(), REFERENCE_KERNELS) is plan


def test_the_first_that_applies_is_taken() -> None:
    never = alternative(PRETEND, lambda use: False)
    other = alternative(replace(PRETEND, name="Second"))
    assert chosen(plan_of(), never, other, alternative(PRETEND)) == {"sums": "Second"}


def test_an_alternative_sees_the_operation_and_its_types() -> None:
    seen: list[Use] = []
    chosen(plan_of(), alternative(PRETEND, lambda use: bool(seen.append(use))))
    (use,) = seen
    assert use.op.name == "sums"
    assert use.reads[0].dtype is DType.FLOAT32
    assert use.writes[0].shape.static() == (3, 2)


def test_only_what_was_asked_for_is_used() -> None:
    assert chosen(plan_of(), alternative(PRETEND), libraries=(BROKEN,)) == {}


def test_auto_does_without_what_is_missing_or_broken() -> None:
    found = chosen(plan_of(), *map(alternative, (ABSENT, BROKEN, PRETEND)), optional=True)
    assert found == {"sums": "Pretend"}


@pytest.mark.parametrize(
    "backend",
    [NumpyBackend(replace(Rules(), negative_ok=True), "cpu:native"), NumpyBackend(Rules("other"))],
)
def test_other_devices_keep_their_own_kernels(backend: NumpyBackend) -> None:
    assert chosen(plan_of(), alternative(PRETEND), backend=backend) == {}


@pytest.mark.parametrize("library", [ABSENT, BROKEN])
def test_a_library_asked_for_by_name_must_be_there(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_choice, "LIBRARIES", (library,))
    with pytest.raises(GradstepError) as error:
        Kernels.of([library.name.lower()])
    assert error.value.kind == "UnavailableError"
    assert library.name in str(error.value)
    assert f"the package {library.package}" in error.value.hint


def test_names_of_nothing_are_refused() -> None:
    with pytest.raises(GradstepError) as error:
        Session(sums()[0].build(), kernels="scippy")
    assert str(error.value).startswith("there are no kernels called 'scippy'")
    assert error.value.hint == "did you mean SciPy?"


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("count_is_known", [False, True])
def test_both_layouts_run_it(fast: bool, count_is_known: bool) -> None:
    plan = plan_of(count_is_known)
    plan = with_kernels(plan, NumpyBackend(), Kernels((PRETEND,)), [alternative(PRETEND)])
    store = initial_store(plan.graph, NumpyBackend(), {})
    rewrite = (lambda plan: plan) if fast else None
    run = laid_out(plan, NumpyBackend(), {}, store, rewrite)
    assert isinstance(run, FastRun) is fast
    feeds = {**FEEDS} if count_is_known else {**FEEDS, "count": np.int32(3)}
    run.feed({plan.graph[n].output(): np.asarray(v) for n, v in feeds.items()})
    run.begin(store)
    done, error = run.run(0, len(plan.steps))
    assert (done, error) == (len(plan.steps), None)
    place = plan.tensors[plan.graph["sums"].output()]
    assert isinstance(place, int)
    assert run.value(place).tolist() == [[3, 3], [1, 1], [3, 3]]


def test_arrays_with_gaps_are_copied() -> None:
    """As where a tensor is a slice of another one's memory."""
    plan = plan_of()
    (step,) = (s for s in plan.steps if s.op.name == "sums")
    cells: list[Any] = [np.zeros(v.type.shape.static(), v.type.dtype.numpy) for v in plan.values]
    data, ids, count = step.reads
    (place,) = step.writes
    cells[data], cells[place] = np.ones((4, 3), np.float32)[:, :2], np.zeros((3, 4))[:, ::2]
    cells[ids][...], cells[count][...] = FEEDS["ids"], 3

    def dense(op: Any) -> Callable[..., Any]:
        def kernel(*arrays: Any, out: Any) -> None:
            assert all(a.flags.c_contiguous for a in (*arrays, out))
            summing(op)(*arrays, out=out)

        return kernel

    replace(alternative(PRETEND), kernel=dense).call(step, cells, [True] * len(cells))()
    assert cells[place].tolist() == [[3, 3], [1, 1], [3, 3]]


def test_what_fails_in_it_is_said_of_the_operation() -> None:
    def failing(op: Any) -> Callable[..., Any]:
        return partial(opening(ValueError("it broke")))

    broken = replace(alternative(PRETEND), kernel=lambda op: lambda *inputs, out: failing(op)())
    plan = with_kernels(plan_of(), NumpyBackend(), Kernels((PRETEND,)), [broken])
    run = laid_out(plan, NumpyBackend(), {}, initial_store(plan.graph, NumpyBackend(), {}), None)
    run.feed({plan.graph[n].output(): v for n, v in FEEDS.items()})
    run.begin({})
    _, error = run.run(0, len(plan.steps))
    assert error is not None
    assert error.node == "sums"
    assert error.message == (
        "UnsortedSegmentSum with data = float32[4, 2], segment_ids = int32[4], num_segments = "
        "int32[] could not be computed"
    )


@each_of("one", ALTERNATIVES, ids=lambda a: f"{a.type}-{a.library.name}")
def test_entries_say_what_they_gain(one: Alternative) -> None:
    assert one.gain
    assert one.text
    assert (one.kernel is None) != (one.bind is None)


def test_the_page_on_kernels_lists_them() -> None:
    page = (Path(__file__).parents[4] / "docs" / "kernels.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{a.type}` | {a.library.name} | {a.gain} | "
        f"{'another order of sums' if a.differs else 'the same bits'} |"
        for a in ALTERNATIVES
    ]
