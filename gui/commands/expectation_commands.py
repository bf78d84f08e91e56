"""What a document expects of its runs: adding what this one gives, and removing that again."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.native.document_diff import Difference, apply
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Expect, Expected, Failed, Message
from gradstep.gui.look.count_text import count_of
from gradstep.gui.model.loss_choice import losses_of
from gradstep.gui.model.workspace import Workspace

FAILED = "exception"  # why a run stopped
CHANGED_MEANWHILE = "what the run gave is not written down: the document is another by now"


def expect_run(workspace: Workspace) -> None:
    """Write down in the document what this run gives: of the selected nodes their values and
    gradients; without a selection of what the document asks for; of one that fails, how."""
    document, stop = workspace.document, workspace.stop
    if stop is None:
        return
    request = Expect(
        what=[] if stop.reason == FAILED else _asked(workspace),
        run=stop.run,
        trusted=workspace.trusted,
        confined=workspace.confined,
    )

    def arrived(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Failed):
            workspace.complain(reply.error)
        elif workspace.document is not document:
            workspace.say(CHANGED_MEANWHILE, "warning")
        elif isinstance(reply, Expected):
            difference = Difference.from_buffers(reply.members, buffers)
            _add(workspace, apply(document, difference), reply.count)

    workspace.debugger.request_of(document, request, arrived)


def remove_expectation(workspace: Workspace, number: int) -> None:
    """The document no longer expects it."""
    every = workspace.document.expectations
    kept = (*every[:number], *every[number + 1 :])
    workspace.edit("Remove expectation", workspace.document.with_(expectations=kept))


def _add(workspace: Workspace, found: Document, count: int) -> None:
    workspace.edit(
        f"Add {count_of(count, 'expectation')}",
        workspace.document.with_(expectations=found.expectations),
    )
    workspace.ask_window("show", "note")


def _asked(workspace: Workspace) -> list[str]:
    """Expressions for values, and for gradients where there are any."""
    document, program = workspace.document, workspace.program
    request = whole_request(document)
    values = [
        ref for n in workspace.selection if (ref := TensorRef(n)) in workspace.inference.types
    ]
    gradients = [ref for ref in values if program is not None and str(ref) in program.gradients]
    if not values:
        values, gradients = [*document.fetches, *request.of], [*request.wrt]
    return [f'x["{ref.short}"]' for ref in values] + [_gradient(workspace, r) for r in gradients]


def _gradient(workspace: Workspace, ref: TensorRef) -> str:
    """That of the loss which is shown, where several have one."""
    program = workspace.program
    losses = losses_of(program, str(ref)) if program is not None else []
    of = f', "{losses[0]}"' if len(losses) > 1 else ""
    return f'grad["{ref.short}"{of}]'
