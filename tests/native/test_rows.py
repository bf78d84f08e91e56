"""Rows of a table: what NumPy gives, bit for bit, whatever the arrays' layout; slices; failures."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from tests.native.bound_arrays import Call, Calls, calls

native = pytest.importorskip(
    "gradstep_native", reason="the extension in native/ is not built: ./dev native"
)


def outcome(call: Call) -> str:
    """How a call ends: nothing, or its exception's text."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def by_python(bound: list[Call]) -> Callable[[], list[str]]:
    return lambda: [outcome(call) for call in bound]


def by_table(bound: list[Call], cuts: list[int], part: int) -> Callable[[], list[str]]:
    """In slices; after one that fails it goes on behind it, as a debugger would not. part: bytes of
    arrays that rows go over together."""

    def run() -> list[str]:
        said = []
        for start, stop in zip([0, *cuts], [*cuts, len(bound)], strict=True):
            at = start
            while at < stop:
                done, error = table.run(at, stop)
                said += [""] * done
                at += done
                if error is not None:
                    said.append(f"{type(error).__name__}: {error}")
                    at += 1
        return said

    table = native.Table(bound, part)
    return run


def alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal bits; of a NaN only that it is one."""
    if a.dtype.kind == "c":
        a, b = a.view(a.real.dtype), b.view(b.real.dtype)
    if a.dtype.kind == "f":
        both = np.isnan(a) & np.isnan(b)
        a, b = np.where(both, 0, a), np.where(both, 0, b)
    return a.tobytes() == b.tobytes()


@given(calls(), st.data())
def test_a_table_gives_what_numpy_gives(drawn: Calls, data: st.DataObject) -> None:
    said: list[list[str]] = []
    want = drawn.after(lambda: said.append(by_python(drawn.calls)()))
    drawn.wipe()  # no row may remember what there was when it was made
    cuts = sorted(data.draw(st.lists(st.integers(0, len(drawn.calls)), max_size=2)))
    run = by_table(drawn.calls, cuts, data.draw(st.sampled_from([1, 8, 40, 8192])))
    for _ in range(2):
        have = drawn.after(lambda: said.append(run()))
        assert all(map(alike, want, have)), drawn.calls
    assert said[0] == said[1] == said[2]
    for kind in native.Table(drawn.calls).kinds():
        event(kind)


def test_this_numpy_is_known() -> None:
    assert native.find_difference() == ""


def kinds(*bound: Call) -> list[str]:
    found: list[str] = native.Table(bound).kinds()
    return found


def test_what_plans_are_made_of_is_native() -> None:
    x, row, out = np.ones((8, 3), np.float32), np.ones(3, np.float32), np.ones((8, 3), np.float32)
    total, number = np.ones(3, np.float32), np.array(2, np.float32)
    flags, square = np.ones((8, 3), bool), np.ones((3, 3), np.float32)
    assert kinds(
        partial(np.tanh, x, out),
        partial(np.multiply, x, number, out),
        partial(np.maximum, x, out, out=out),
        partial(np.add, x, row, out),
        partial(np.greater, x, number, flags),
        partial(np.tanh, x.T, out.T),
        partial(np.exp, x[:, :2], out[:, 1:]),
        partial(np.add.reduce, x, (0,), x.dtype, total),
        partial(np.maximum.reduce, x, 0, None, total),
        partial(np.matmul, x, square.T, out),
        partial(np.copyto, out, x),
        partial(np.copyto, out, row),
        partial(np.copyto, out, x, "same_kind", flags),
        partial(out.fill, 1),
        partial(np.multiply, x, flags, out),
    ) == [
        *["loop"] * 6, "iteration", "reduction", "reduction", "product", "move", "assignment",
        "choice", "fill", "iteration",
    ]  # fmt: skip


def test_what_numpy_would_copy_or_cast_first_stays_pythons() -> None:
    memory = np.arange(12.0)
    half = memory.astype(np.float32)
    text = np.array(["a"], object)
    locked = np.arange(3.0)
    locked.flags.writeable = False
    odd = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float64)  # not where it should lie
    assert (
        set(
            kinds(
                partial(np.add, memory[:6], 1.0, memory[:6]),
                partial(np.add, memory[:6], memory[6:], memory[1:7]),  # they overlap
                partial(np.add, memory, half, memory),  # of two types
                partial(np.add, half, half, memory),  # likewise
                partial(
                    np.negative, memory[:3], as_strided(memory, (3,), (0,))
                ),  # all in one place
                partial(np.add, text, text, text),
                partial(np.add, odd, odd, odd),
                partial(np.negative, memory[:3], locked),
                partial(np.power, np.arange(3), np.arange(3), np.arange(3)),  # raises by itself
                partial(np.add.reduce, memory, 0, None, memory[3:4].reshape(())),  # of itself
                partial(
                    np.add.reduce, np.arange(3, dtype=np.uint8), 0, None, np.zeros((), np.uint8)
                ),
                partial(np.add.reduce, memory, 1 << 70, None, np.zeros(())),
                partial(np.matmul, np.ones((3, 3)), np.ones((2, 3)), np.ones((3, 3))),
                partial(np.add, memory, memory, memory, where=True),
                partial(np.sort, memory),
                lambda: None,
            )
        )
        == {"call"}
    )


def test_a_failure_says_how_many_calls_are_done() -> None:
    x, done = np.zeros(3), []
    bound: list[Call] = [
        partial(np.add, x, np.ones(3), x),
        lambda: done.append(1),
        partial(np.power, np.array([2]), np.array([-1]), np.array([0])),
        partial(np.add, x, np.ones(3), x),
    ]
    table = native.Table(bound)
    count, error = table.run()
    assert (count, type(error), done, x[0]) == (2, ValueError, [1], 1)
    assert table.run(3, 4) == (1, None)
    assert x[0] == 2
    table.call(0)
    assert x[0] == 3
    with pytest.raises(ValueError, match="negative"):
        table.call(2)


def test_what_ends_the_program_goes_through() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.Table([interrupt]).run()


@pytest.mark.parametrize("range_", [(-1, 1), (0, 3), (2, 1)])
def test_other_rows_than_there_are_cannot_be_run(range_: tuple[int, int]) -> None:
    table = native.Table([lambda: None] * 2)
    with pytest.raises(IndexError, match="2 rows"):
        table.run(*range_)
    with pytest.raises(IndexError, match="2 rows"):
        table.call(2)


def test_tables_and_what_they_hold_go_together() -> None:
    class Held:
        def __call__(self) -> None: ...

    held = Held()
    held.table = native.Table([held, partial(np.add, *[np.ones((2, 3)).T] * 3)])  # type: ignore[attr-defined]
    gone = weakref.ref(held)
    del held
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_others_run_meanwhile_but_not_the_same_table() -> None:
    x, small = np.ones(1 << 20), np.ones(1)
    large = [partial(np.sin, x, np.empty_like(x))] * 16
    table = native.Table([partial(np.add, small, small, small), *large])
    ends: list[Any] = []
    other = threading.Thread(target=lambda: ends.append(table.run(1, 17)))
    other.start()
    said = set()
    while other.is_alive():
        _, error = table.run(0, 1)
        said.add(str(error))
    other.join()
    assert ends == [(16, None)]
    assert "the table is run by another thread" in said
