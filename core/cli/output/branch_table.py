"""Branches as a tree in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.cli.output.command_output import table
from gradstep.core.position_text import position_text
from gradstep.core.protocol.branch_queries import BranchInfo, in_tree


def branch_table(branches: Sequence[BranchInfo]) -> str:
    """One line for each, those that leave it below it."""
    return table([_row(branch, depth) for branch, depth in in_tree(branches)])


def _row(branch: BranchInfo, depth: int) -> list[str]:
    left = position_text([(branch.run, branch.step)])
    place = f"leaves {branch.parent} at {left}" if branch.parent else ""
    name = f"{'  ' * depth}{branch.name}"
    stands = f"stands at {position_text([(branch.at_run, branch.at_step)])}"
    return ["→" if branch.current else "", name, place, branch.text, stands]
