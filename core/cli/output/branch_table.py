"""Branches as a tree in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradstep.core.cli.output.command_output import table
from gradstep.core.protocol.messages import BranchInfo


def branch_table(branches: Sequence[BranchInfo]) -> str:
    """One line for each, those that leave it below it."""
    first = next(branch for branch in branches if not branch.parent)
    return table([_row(branch, depth) for branch, depth in in_tree(branches, first)])


def in_tree(
    branches: Sequence[BranchInfo], branch: BranchInfo, depth: int = 0
) -> Iterator[tuple[BranchInfo, int]]:
    """A branch and all that come from it, each with how deep it is; first those made first."""
    yield branch, depth
    for child in branches:
        if child.parent == branch.name:
            yield from in_tree(branches, child, depth + 1)


def _row(branch: BranchInfo, depth: int) -> list[str]:
    place = f"leaves {branch.parent} at {branch.run}:{branch.step}" if branch.parent else ""
    name = f"{'  ' * depth}{branch.name}"
    stands = f"stands at {branch.at_run}:{branch.at_step}"
    return ["→" if branch.current else "", name, place, branch.text, stands]
