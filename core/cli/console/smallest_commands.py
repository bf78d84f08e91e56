"""The console's command that writes the few operations which show what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.checks.gradients.gradient_checks import table_of_node
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.move_commands import needs
from gradstep.core.cli.console.why_commands import explained
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.host.edit_trials import run_by, source_of
from gradstep.core.host.smallest_answers import smallest_of
from gradstep.core.io.device_recordings import is_recording
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.program.derive import of_kind
from gradstep.core.program.gradient_context import situation_of
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import Explanation, FindSmallest, GradientTable

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

_USE = (
    "a file, after a `why`: smallest small.py; or a file and what is wrong: smallest small.py rule "
    "NODE, smallest small.py device DEVICE [NODE]"
)


def smallest(console: Console, rest: str) -> Reply:
    """`smallest FILE`: of what the last `why` was about; `smallest FILE rule NODE`: of a gradient
    rule that is wrong; `smallest FILE device DEVICE [NODE]`: of what a device gives otherwise."""
    path, *about = rest.split() or [""]
    match about:
        case [] if path and console.sessions.question:
            _, of, wrt = explained(console, console.sessions.question)
            request = FindSmallest(of=of, wrt=wrt)
        case ["rule", node]:
            request = FindSmallest(node=node)
        case ["device", device, *node] if len(node) < 2:
            request = FindSmallest(against=device, node="".join(node))
        case _:
            raise needs("smallest", _USE)
    return console.acts.write_smallest(request, path)


def find(console: Console, request: FindSmallest) -> Document:
    """What shows it in the session. Raises GradstepError."""
    session, source = console.session, source_of(console.session)
    gradients = of_kind(source.document, source.functions, CodeKind.GRADIENT)

    def explain(request: FindSmallest) -> Explanation:
        asked = f"grad {request.wrt} of {request.of}" if request.wrt else request.of
        return explained(console, asked)[0]

    def check(node: str) -> GradientTable:
        here = situation_of(session, gradients)
        each = next(here.each(session.program.derived), here)
        return table_of_node(Evaluator(session.program.functions), each, node)

    document = run_by(source.document, session)
    loaded = Loaded(document, {**source.functions, **session.program.functions})
    recording = read_file(request.against) if is_recording(request.against) else b""
    return smallest_of(session, loaded, request, explain, check, console.devices(), recording)


SMALLEST_COMMANDS = (
    ConsoleCommand(
        "smallest",
        smallest,
        "FILE [rule NODE | device DEVICE [NODE]]: the few operations that show what is wrong",
    ),
)
