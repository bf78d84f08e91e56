"""From the user's document to the program that runs: its gradients, its updates, its functions.

What is wrong with the document becomes a problem of the program; what can run, runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.state.print_output import Print, to_stderr
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations
from gradstep.core.ops.typing.missing_inputs import find_waiting
from gradstep.core.program.acyclic_part import without_cycles
from gradstep.core.program.data_feeds import find_batches, first_feeds, own_feeds
from gradstep.core.program.default_targets import missing_names, run_targets, sound_threads
from gradstep.core.program.edited_program import EditedPrograms
from gradstep.core.program.feeds_and_initials import fit_feeds, fit_initial
from gradstep.core.program.function_kinds import in_role
from gradstep.core.program.imported_gradients import add_imported_gradients
from gradstep.core.program.missing_functions import uncallable
from gradstep.core.program.recorded_remarks import recorded_remarks
from gradstep.core.program.training_updates import with_training
from gradstep.core.program.uninitialized_variables import find_captured, find_uninitialized
from gradstep.core.program.unneeded_operations import as_remarks
from gradstep.core.program.unused_overrides import find_unmatched, find_unregistered
from gradstep.core.program.user_code import Function, functions_of


@collector_paused()
def derive(
    document: Document,
    functions: Mapping[str, Function] | None = None,
    *,
    trusted: bool = False,
    output: Print = to_stderr,
    previous: Program | None = None,
) -> Program:
    """The program of `document`. Never raises for what the user drew or wrote.

    functions: the document's custom Python by name, all of it, and perhaps of a larger one; None:
    compiled from its code, which runs only if `trusted`. output: gets what the custom Python
    prints. previous: the program before the user's edit; what the edit did not touch is taken from
    it, the very same operations.
    """
    problems: list[Problem] = []
    if functions is None:
        functions, problems = compile_functions(document, trusted, output)
    edited = EditedPrograms(document, functions, derive)
    document = with_placeholders(document)
    if previous is not None:
        document = document.with_(graph=continue_graph(document.graph, previous.forward))
    graph = without_cycles(document.graph)
    inference = infer_declared(document.graph)
    broken = broken_operations(graph, inference)
    problems += [*inference.problems, *find_unmatched(document.graph, document.request.overrides)]
    rules = of_kind(document, functions, CodeKind.GRADIENT)
    feeds, refused = fit_feeds(graph, own_feeds(document))
    batches, unread = find_batches(document, graph, None if previous is None else previous.batches)
    feeds |= first_feeds(batches)
    before = () if previous is None else (previous.forward, previous.initial)
    initial, unfit = fit_initial(graph, document.initial, *before)
    sound, lost = sound_threads(document, graph)
    problems += [*refused, *unread, *unfit, *lost, *missing_names(document)]
    unsound = {*broken, *find_waiting(graph, feeds)}
    program = Program(
        graph=graph,
        forward=document.graph,
        request=document.request,
        fetches=tuple(ref for ref in document.fetches if ref.op in graph),
        targets=run_targets(document, graph, unsound),
        feeds=feeds,
        batches=batches,
        initial=initial,
        init=document.init if document.init in graph else "",
        functions=of_kind(document, functions, CodeKind.PYFUNC),
        threads=sound,
        recorded=document.recorded,
        rules=rules,
        edited=edited,
    )
    program, more = with_training(program, document, broken, rules, previous)
    problems += more
    program = add_imported_gradients(program, document, previous)
    if previous is not None:
        # The very same where it is equal, which is found at once by who compares.
        same = program.fetches == previous.fetches
        fetches = previous.fetches if same else program.fetches
        graph = program.graph
        if graph is not document.graph or previous.graph is previous.forward:
            # With nothing derived it goes on from `previous.forward` already, as is done above.
            graph = continue_graph(graph, previous.graph)
        program = replace(program, graph=graph, fetches=fetches)
    problems += find_unregistered(document, rules, problems)
    problems += recorded_remarks(document)
    blamed = {problem.node for problem in unfit}
    problems += [p for p in find_uninitialized(program) if p.node not in blamed]
    problems += [*find_captured(program), *uncallable(program, document)]
    return replace(program, problems=tuple(as_remarks(problems, program, document)))


def compile_functions(
    document: Document, trusted: bool, output: Print
) -> tuple[dict[str, Function], list[Problem]]:
    """The document's custom Python as callables by name, and what keeps it from running."""
    functions, errors = functions_of(document.code.values(), trusted, output)
    if trusted or not errors:
        return functions, [Problem.of(error, "code") for error in errors]
    first = errors[0]
    text = "this document's Python has not been trusted, so it does not run"
    return functions, [Problem("", "untrusted-code", text, first.hint, severity="warning")]


def of_kind(
    document: Document, functions: Mapping[str, Function], kind: CodeKind
) -> dict[str, Function]:
    """The `functions` that the document has for `kind`; see `in_role`."""
    return in_role(document.code, functions, kind)
