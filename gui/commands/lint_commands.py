"""What can be done about a finding: mend it, see an example of it, or hear no more of it."""

from __future__ import annotations

from gradstep.core.document.lint_remedies import exempt
from gradstep.core.document.named_edits import edit_by_name, label_of
from gradstep.core.protocol.messages import LintFinding
from gradstep.gui.commands.node_commands import edit_and_show
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace


@says_why
def mend_finding(workspace: Workspace, finding: LintFinding) -> None:
    """Make the edit that mends it."""
    document = edit_by_name(workspace.document, finding.remedy, finding.names)
    edit_and_show(workspace, label_of(finding.remedy, finding.names), document)


@says_why
def exempt_node(workspace: Workspace, finding: LintFinding) -> None:
    """Have the lint say nothing about this operation any more; the document remembers it."""
    document = exempt(workspace.document, finding.node, finding.code)
    workspace.edit(f"Exempt {finding.node} from {finding.code}", document)


def leave_out_lints(workspace: Workspace, *codes: str) -> None:
    """Have these lints look at no document any more, and all others look: a setting."""
    settings().lints_off = [*codes]
    workspace.lints.want()


def show_example(workspace: Workspace, stem: str) -> None:
    """Open an example in a window of its own, beside this one."""
    workspace.ask_window("example", stem)
