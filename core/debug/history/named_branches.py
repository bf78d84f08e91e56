"""The branches of a session by their names, and what names they may have."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.debug.history.branch_record import FIRST_BRANCH, Branch
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead


class NamedBranches(dict[str, Branch]):
    """By name, in the order in which they were made. Raises GradstepError for a name that there is
    not, or twice."""

    def __init__(self) -> None:
        super().__init__({FIRST_BRANCH: Branch(FIRST_BRANCH)})

    def __missing__(self, name: str) -> Branch:
        hint = instead(name, self)
        raise GradstepError(f"there is no branch '{name}'", kind="KeyError", hint=hint)

    @property
    def first(self) -> str:
        """The name of the one that all others come from."""
        return next(name for name, branch in self.items() if not branch.parent)

    def free_name(self, name: str, must: bool = False) -> str:
        """The name, or the next that is free; must: there has to be one."""
        name = name.strip()
        if name in self:
            raise GradstepError(
                f"there is a branch '{name}' already",
                kind="ValueError",
                hint="choose another name, or drop that one",
            )
        if not name and must:
            raise GradstepError("a branch needs a name", kind="ValueError", hint="for example 'b'")
        numbers = range(1, len(self) + 2)
        return name or next(n for n in map("b{}".format, numbers) if n not in self)

    def rename(self, name: str, to: str) -> str:
        """Call a branch something else: its name then."""
        if self[name].name == to:
            return to
        to = self.free_name(to, must=True)
        found = []
        for each in self.values():
            named, parent = (to if x == name else x for x in (each.name, each.parent))
            found.append(replace(each, name=named, parent=parent))
        self.clear()
        self.update({each.name: each for each in found})
        return to

    def drop(self, name: str) -> None:
        """Forget a branch; those that leave it leave the one that it leaves, where it did, and what
        was given and edited on it is theirs."""
        gone = self.pop(name)
        known = self[gone.parent].edits
        for other in [each for each in self.values() if each.parent == name]:
            self[other.name] = replace(
                other,
                parent=gone.parent,
                run=gone.run,
                step=gone.step,
                op=gone.op,
                inherited=gone.inherited,
                edits_inherited=sum(edit in known for edit in other.edits),
                left=gone.left,
            )

    def that_leaves(self, name: str) -> Branch:
        """A branch that can be dropped: any but the first."""
        found = self[name]
        if not found.parent:
            raise GradstepError(
                f"'{name}' is the branch that all others leave",
                kind="ValueError",
                hint="restart, to have it from its beginning",
            )
        return found
