"""What is asked of branches: a value given where the debugger stands, another branch shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from gradstep.core.protocol.message_base import Command, Question, Reply, Request
from gradstep.core.protocol.message_parts import Look

SEED = ":seed"  # what is named where random numbers are to be others; no operation is called so
BranchCommand = Literal["switch", "rename", "drop", "edit"]


class StandInfo(msgspec.Struct, frozen=True, array_like=True):
    """Where a thread stands, or was left: after `step` steps of `run`."""

    thread: str
    run: int
    step: int


class BranchInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A branch of the session's runs. parent: the one that it leaves, before `op` ("" at the end of
    a run), after `step` steps of `run`; "" for the first. text: what was given there, in words.
    at_run, at_step: where it stands, or was left. current: it is the one that is shown. edits: of
    its program, those on the way to it included; each its kind and what it is about. Of a program
    with threads, left: where all of them stood as it left, the one in which it did first, whose
    `run` and `step` are; stands: where they stand, or were left, first the one that is looked
    at."""

    name: str
    parent: str = ""
    run: int = 0
    step: int = 0
    op: str = ""
    text: str = ""
    at_run: int = 0
    at_step: int = 0
    current: bool = False
    edits: list[tuple[str, list[str]]] = []
    left: list[StandInfo] = []
    stands: list[StandInfo] = []

    def left_in(self, thread: str) -> tuple[int, int]:
        """Run and step of a thread at which it leaves the other; "" for the one where it does."""
        there = ((each.run, each.step) for each in self.left if each.thread == thread)
        return next(there, (self.run, self.step))


def standing_text(stands: Sequence[StandInfo], words: Callable[[int, int], str]) -> str:
    """ "one at run 3, step 2 (main at run 1, step 1)": in which thread, and where the others are.
    words: a place for people."""
    first, *others = [f"{each.thread} at {words(each.run, each.step)}" for each in stands]
    return f"{first} ({', '.join(others)})" if others else first


def in_tree(
    branches: Sequence[BranchInfo], parent: str = "", depth: int = 0
) -> Iterator[tuple[BranchInfo, int]]:
    """All of them, each before those that leave it, with how deep it is; what was made first comes
    first."""
    for branch in branches:
        if branch.parent == parent:
            yield branch, depth
            yield from in_tree(branches, branch.name, depth + 1)


def current_branch(branches: Sequence[BranchInfo]) -> str:
    """The name of the one that is shown; "" where there are none."""
    return next((branch.name for branch in branches if branch.current), "")


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A moment of some runs. session, branch: by their names, "" for those that are shown. run,
    step: -1 for where it stands, or was left; of another run, its end. inside: in the loop that is
    the next step there, iteration and step, and so on in loops inside of it."""

    session: str = ""
    branch: str = ""
    run: int = -1
    step: int = -1
    inside: list[tuple[int, int]] = []


class CompareMoments(Question, frozen=True, kw_only=True):
    """What is another value at `right` than at `left`, of all tensors, in the order of the run?
    Replied to with Compared."""

    left: Moment
    right: Moment


class KeepBranches(Request, frozen=True, kw_only=True):
    """What makes the open document keep the branches there are? Replied to with BranchesKept."""


class BranchesKept(Reply, frozen=True, kw_only=True):
    """count: of them, without the first. members: of the difference, as of Edit, whose buffers are
    the reply's."""

    count: int
    members: list[str]


class Inject(Command, frozen=True, kw_only=True):
    """Give a variable or a tensor another value where the debugger stands: a branch leaves there,
    and is shown. The value is raw buffer 0, of this shape. at: the part that is given it ("[0, :]",
    every element of which is where it is a number); "" for the whole. ":seed" is the seed of all
    random numbers that are drawn from there on. branch: the name of the
    branch, "" for the next that is free. look: as of Control. Replied to with SessionList, and a
    raw buffer as of Open, which may be empty, and behind it those of what is seen."""

    name: str
    dtype: str
    shape: list[int]
    at: str = ""
    branch: str = ""
    look: Look | None = None


class ManageBranches(Command, frozen=True, kw_only=True):
    """Show a branch, where it was left ("switch"); call it `to` ("rename"); or forget it ("drop").
    "edit": run an edited program from the beginning of this run on, on a branch of that name, ""
    for the next that is free. kind, edited: which edit, of what; see
    gradstep.core.document.named_edits. look: as of Control. Replied to with SessionList, and the
    raw buffers of Inject; the program of `stopped` is told where it is another one now."""

    command: BranchCommand
    name: str = ""
    to: str = ""
    kind: str = ""
    edited: list[str] = []  # noqa: RUF012
    look: Look | None = None
