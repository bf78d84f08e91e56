"""From the user's document to the program that runs: its gradients, its updates, its functions.

What is wrong with the document becomes a problem of the program; what can run, runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.autodiff.differentiate import Differentiation, differentiate
from core.autodiff.gradients import gradient_of
from core.debug.program import Program
from core.errors import GradstepError
from core.graph.changes import sharing
from core.graph.model import Graph, TensorRef
from core.graph.problems import Problem
from core.host.evaluator import VARIABLES
from core.host.given import fitting_feeds, fitting_initial
from core.host.overrides import unmatched, unregistered
from core.host.roles import in_role
from core.host.soundness import (
    broken_operations,
    refuse_broken,
    refuse_cyclic,
    without_cycles,
)
from core.host.targets import run_targets
from core.host.user_code import Function, functions_of
from core.io.document import CodeKind, Document
from core.ops.builder import GraphBuilder, Tensor
from core.ops.indexed_slices import IndexedSlices
from core.ops.infer import declared
from core.ops.output import Print, to_stderr
from core.train.optimizers import Updates, apply_updates


def derive(
    document: Document,
    functions: Mapping[str, Function] | None = None,
    *,
    trusted: bool = False,
    output: Print = to_stderr,
    previous: Program | None = None,
) -> Program:
    """The program of `document`. Never raises for what the user drew or wrote.

    functions: the document's custom Python by name, all of it; None: compiled from its code, which
    runs only if `trusted`. output: gets what the custom Python prints. previous: the program before
    the user's edit; what the edit did not touch is taken from it, the very same operations.
    """
    problems: list[Problem] = []
    if functions is None:
        functions, problems = compiled(document, trusted, output)
    if previous is not None:
        document = document.with_(graph=sharing(document.graph, previous.forward))
    graph = without_cycles(document.graph)
    found = declared(document.graph).problems
    broken = broken_operations(graph, found)
    problems += [*found, *unmatched(document.graph, document.request.overrides)]
    rules = of_kind(document, functions, CodeKind.GRADIENT)
    unknown = unregistered(document.graph, document.request.overrides, rules)
    feeds, refused = fitting_feeds(graph, document.feeds)
    initial, unfit = fitting_initial(graph, document.initial)
    problems += [*refused, *unfit]
    program = Program(
        graph=graph,
        forward=document.graph,
        request=document.request,
        fetches=tuple(ref for ref in document.fetches if ref.op in graph),
        targets=run_targets(document, graph, broken),
        feeds=feeds,
        initial=initial,
        init=document.init if document.init in graph else "",
        functions=of_kind(document, functions, CodeKind.PYFUNC),
    )
    if document.request.of:
        program, more = _with_gradients(program, document, broken, functions, previous)
        problems += more
    problems += _not_said(unknown, problems)
    return replace(program, problems=tuple(problems))


def _not_said(found: Sequence[Problem], said: Sequence[Problem]) -> list[Problem]:
    """Those of `found` that no other problem is about already: the gradient that cannot be
    derived names what is missing."""
    texts = [problem.text for problem in said if problem.code == "gradient"]
    missing = [p.text.partition("the gradient ")[2] for p in found]
    return [p for p, m in zip(found, missing, strict=True) if not any(m in t for t in texts)]


def compiled(
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
    """Those of `functions` that the document has for `kind`; see `in_role`."""
    return in_role(document.code, functions, kind)


def _with_gradients(
    program: Program,
    document: Document,
    broken: Mapping[str, Problem],
    functions: Mapping[str, Function],
    previous: Program | None,
) -> tuple[Program, list[Problem]]:
    """`program` with gradients and updates; without, and the reason, when there can be none."""
    request = document.request
    of = tuple(ref for ref in request.of if ref.op in program.graph)
    last = None if previous is None else previous.derived
    program = replace(program, fetches=(*of, *program.fetches), derived=last)
    try:
        refuse_cyclic((*request.of, *request.wrt), document.graph, program.graph)
        refuse_broken((*request.of, *request.wrt), broken)
        sound = _without(program.graph, broken)
        rules = of_kind(document, functions, CodeKind.GRADIENT)
        derived = differentiate(sound, request, rules, last)
    except GradstepError as error:
        return program, [Problem.of(error, "gradient")]
    gradients = dict.fromkeys(derived.gradients.values())
    program = replace(
        program,
        graph=_beside(derived.graph, program.graph),
        derived=derived,
        gradients=derived.gradients,
        slices=derived.slices,
        edges=derived.edges,
        blocked=derived.blocked,
        custom=derived.custom,
        fetches=tuple(dict.fromkeys((*program.fetches, *gradients))),
    )
    return _with_updates(program, document, derived, None if previous is None else previous.graph)


def _with_updates(
    program: Program, document: Document, derived: Differentiation, before: Graph | None
) -> tuple[Program, list[Problem]]:
    if document.optimizer is None:
        return program, []
    builder = GraphBuilder(derived.graph, before)
    try:
        updates = _updates(builder, document, derived)
    except GradstepError as error:
        return program, [Problem.of(error, "optimizer")]
    program = replace(
        program,
        graph=_beside(builder.build(), program.graph),
        targets=(*program.targets, *updates.targets),
        initial={**updates.initial, **program.initial},
        slots=updates.slots,
    )
    return program, []


def _updates(builder: GraphBuilder, document: Document, derived: Differentiation) -> Updates:
    """Updates of the variables that have a gradient; as in TensorFlow one without is passed over.

    Raises GradstepError when none has, in TensorFlow's words."""
    assert document.optimizer is not None
    variables = [ref for ref in document.request.wrt if builder.operation(ref.op).type in VARIABLES]
    pairs = [
        (ref.op, _gradient(builder, derived, ref)) for ref in variables if ref in derived.gradients
    ]
    if not pairs:
        names = ", ".join(f"'{ref.op}'" for ref in variables)
        losses = ", ".join(ref.short for ref in document.request.of)
        raise GradstepError(
            "No gradients provided for any variable, check your graph for ops that do not support "
            f"gradients, between variables [{names}] and loss {losses}.",
            kind="ValueError",
            hint="ask why the gradient of a variable is None",
        )
    return apply_updates(builder, document.optimizer.type, document.optimizer.hyper, pairs)


def _gradient(
    builder: GraphBuilder, derived: Differentiation, ref: TensorRef
) -> Tensor | IndexedSlices:
    """The gradient as the optimizer takes it: rows where they are all that there is to it."""
    dense = builder.get(derived.gradients[ref])
    found = gradient_of(builder, derived, ref) if dense.shape.is_static else None
    return dense if found is None else found


def _without(graph: Graph, broken: Collection[str]) -> Graph:
    return Graph.of(op for op in graph if op.name not in broken) if broken else graph


def _beside(derived: Graph, whole: Graph) -> Graph:
    """`derived`, and after it what `whole` has besides: the operations that are not sound."""
    rest = {name: op for name, op in whole.operations.items() if name not in derived}
    return Graph({**derived.operations, **rest}) if rest else derived
