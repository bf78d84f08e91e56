"""Edits that may mend something: tried, made in the document, or made on a branch of the runs."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.document.named_edits import edit_by_name, label_of
from gradstep.core.protocol.messages import LintFinding, RemedyInfo
from gradstep.gui.commands.branch_commands import edit_on_branch
from gradstep.gui.commands.node_commands import edit_and_show
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.workspace import Workspace

_DIALOG = "repairs"  # of gradstep.gui.actions.dialog_table


def try_repairs(
    workspace: Workspace,
    title: str,
    remedies: Sequence[RemedyInfo],
    of: str = "",
    wrt: str = "",
) -> None:
    """Show what the run would be with each of them. of, wrt: what is looked at."""
    if not remedies:
        workspace.say("No edit is known that mends it by itself; the answer says what to look at")
        return
    workspace.repairs.ask(title, remedies, of, wrt)
    workspace.view_requested.emit(_DIALOG, "")


def try_offered(workspace: Workspace) -> None:
    """The same of what was explained last."""
    said = workspace.whys.said
    if said is not None:
        try_repairs(workspace, said.found.text, said.found.remedies, said.of, said.wrt)


def try_finding(workspace: Workspace, finding: LintFinding) -> None:
    """Show what mending what a lint has found would do to the loss and its gradient."""
    label = label_of(finding.remedy, finding.names)
    one = RemedyInfo(kind=finding.remedy, names=finding.names, label=label)
    try_repairs(workspace, finding.text, [one])


@says_why
def take_repair(workspace: Workspace, remedy: RemedyInfo) -> None:
    """Make it in the document."""
    document = edit_by_name(workspace.document, remedy.kind, remedy.names)
    edit_and_show(workspace, remedy.label, document)


def branch_repair(workspace: Workspace, remedy: RemedyInfo) -> None:
    """Make it on a branch, from this run on, to be stepped through; the document stays."""
    edit_on_branch(workspace, remedy.kind, *remedy.names)
