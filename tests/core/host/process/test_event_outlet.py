"""What an engine says unasked: little at a time, whatever it has to say."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.host.process.event_outlet import INTERVAL, MOST, Excerpt, Outlet
from gradstep.core.host.process.stderr_tail import LastLines
from gradstep.core.protocol.messages import FileWanted, Output, Progress


def settled(events: list[Any]) -> list[Any]:
    time.sleep(3 * INTERVAL)
    return events


@pytest.mark.slow
def test_a_flood_comes_in_few_pieces_that_can_be_read() -> None:
    events: list[Any] = []
    outlet, begun = Outlet(events.append), time.monotonic()
    for number in range(300_000):
        outlet.offer(Output(text=f"{number}\n"))
    outlet.flush()
    seconds = time.monotonic() - begun
    assert len(events) <= 20 * seconds + 3
    assert all(len(event.text) <= MOST + 100 for event in events)
    assert events[0].text.startswith("0\n")
    assert events[-1].text.endswith("299999\n")


def test_the_first_comes_at_once_and_the_last_comes_too() -> None:
    events: list[Any] = []
    outlet = Outlet(events.append)
    outlet.offer(Output(text="a\n"))
    assert events == [Output(text="a\n")]
    outlet.offer(Output(text="b\n"))
    outlet.offer(Output(text="c\n"))
    assert settled(events)[1:] == [Output(text="b\nc\n")]


def test_what_the_engine_waits_for_is_asked_at_once() -> None:
    events: list[Any] = []
    outlet = Outlet(events.append)
    outlet.offer(Output(text="a\n"))
    outlet.offer(Output(text="b\n"))
    outlet.offer(FileWanted(number=1, place="@a.csv"))
    assert events[1:] == [Output(text="b\n"), FileWanted(number=1, place="@a.csv")]


def test_of_progress_the_last_counts() -> None:
    events: list[Any] = []
    outlet = Outlet(events.append)
    for done in range(10_000):
        outlet.offer(Progress(text="Checking", done=done, total=10_000))
    assert len(settled(events)) < 10_000 / 20
    assert events[-1].done == 9_999


def test_what_is_not_shown_is_said() -> None:
    excerpt = Excerpt(100)
    excerpt.add("begin\n" + "x" * 12_000_000 + "\nend\n")
    assert excerpt.take() == f"begin\n{'x' * 44}\n… 12 MB not shown …\nend\n"
    assert excerpt.take() == ""


def test_the_end_of_one_long_line_is_shown() -> None:
    excerpt = Excerpt(100)
    excerpt.add("x" * 1_000_000 + "end\n")
    assert excerpt.take().endswith(f" not shown …\n{'x' * 46}end\n")


@given(st.lists(st.text("ab\n", max_size=30)), st.integers(2, 40))
def test_an_excerpt_is_the_text_or_both_its_ends(pieces: list[str], most: int) -> None:
    excerpt, whole = Excerpt(most), "".join(pieces)
    for piece in pieces:
        excerpt.add(piece)
    found = excerpt.take()
    head, left_out, tail = found.partition("\n… ")
    if not left_out:
        assert found == whole
        return
    assert whole.startswith(head)
    assert whole.endswith(tail.partition(" not shown …\n")[2])
    assert len(whole) > 2 * (most // 2)
    assert len(found) < most + 40


@given(st.lists(st.binary(max_size=50)))
def test_the_last_lines_are_those_of_the_whole(pieces: list[bytes]) -> None:
    lines = LastLines()
    text = b"".join(pieces).replace(b"\r", b"").decode("latin-1")
    for piece in pieces:
        lines.add(piece.replace(b"\r", b"").decode("latin-1").encode())
    *whole, rest = text.split("\n")
    expected = [line.rstrip() for line in whole][-40:]
    assert lines.lines == ([*expected, rest.rstrip()] if rest else expected)


def test_a_line_without_an_end_is_cut() -> None:
    lines = LastLines()
    for _ in range(200):
        lines.add(b"x" * 65_536)
    assert [len(line) for line in lines.lines] == [4096]
    lines.add(b"\nnext\n")
    assert lines.lines[-1] == "next"
