"""Branches as a tree in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.cli.output.command_output import table
from gradstep.core.position_text import position_text
from gradstep.core.protocol.branch_queries import BranchInfo, StandInfo, in_tree, standing_text


def branch_table(branches: Sequence[BranchInfo]) -> str:
    """One line for each, those that leave it below it."""
    return table([_row(branch, depth) for branch, depth in in_tree(branches)])


def _row(branch: BranchInfo, depth: int) -> list[str]:
    left = _place(branch.run, branch.step, branch.left)
    place = f"leaves {branch.parent} {left}" if branch.parent else ""
    name = f"{'  ' * depth}{branch.name}"
    stands = f"stands {_place(branch.at_run, branch.at_step, branch.stands)}"
    return ["→" if branch.current else "", name, place, branch.text, stands]


def _place(run: int, step: int, stands: Sequence[StandInfo]) -> str:
    """With where the other threads are."""
    return f"in {standing_text(stands, _text)}" if stands else f"at {_text(run, step)}"


def _text(run: int, step: int) -> str:
    return position_text([(run, step)])
