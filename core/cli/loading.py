"""From arguments to what a verb works on: the document, its functions, a started session."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.autodiff.request import GradientRequest, Override, OverrideKind
from core.cli.values import parse_feed, usage
from core.engine.backend import Backend
from core.engine.feeds import feed_arrays
from core.engine.session import Session
from core.errors import GradstepError
from core.graph.loop import anywhere, within
from core.graph.model import Constant, Edge, Graph, TensorRef
from core.graph.near import near
from core.host.overrides import near_miss
from core.host.roles import in_role
from core.host.trust import is_trusted
from core.host.user_code import Function, functions_of
from core.io.document import CodeKind, Document
from core.io.open import read
from core.io.requests import main_request


@dataclass(frozen=True, eq=False)
class Loaded:
    """A document as the arguments want it, and its Python; what may not run raises when called."""

    document: Document
    functions: Mapping[str, Function]

    def of_kind(self, kind: CodeKind) -> dict[str, Function]:
        """The functions that serve as one kind, by name."""
        return in_role(self.document.code, self.functions, kind)

    def feeds(self) -> dict[TensorRef, np.ndarray]:
        """The document's feeds, as its graph takes them. Raises GradstepError."""
        values = {name: value.array for name, value in self.document.feeds.items()}
        return feed_arrays(self.document.graph, values)

    def initial(self) -> dict[str, np.ndarray]:
        """The variables' initial values by name."""
        return {name: value.array for name, value in self.document.initial.items()}


def load(args: argparse.Namespace) -> Loaded:
    """The document of `args.file` with its feeds, init, and gradient request as the arguments
    say. Raises GradstepError."""
    document = read(args.file)
    given: Mapping[str, Any] = dict(parse_feed(text) for text in getattr(args, "feed", ()))
    if given:
        arrays = feed_arrays(document.graph, given)
        if not args.allow_nan:
            _refuse_non_finite(arrays)
        _say_what_is_cut_off(given, arrays)
        document = document.with_(feeds=_with_feeds(document, arrays))
    if getattr(args, "init", None):
        document = document.with_(init=document.graph[args.init].name)
    if hasattr(args, "of"):
        document = document.with_(request=_request(document, args))
    return Loaded(document, _functions(document, args))


def as_it_stands(args: argparse.Namespace) -> Loaded:
    """The document of `args.file`, whatever else the arguments say. Raises GradstepError."""
    document = read(args.file)
    return Loaded(document, _functions(document, args))


def start(
    loaded: Loaded, graph: Graph, backend: Backend, initial: Mapping[str, Any], **layout: Any
) -> Session:
    """A session on `graph` whose variables are initialised: by `init`, then by `initial`. layout:
    as `arguments.layout` gives it; by default recorded."""
    functions = loaded.of_kind(CodeKind.PYFUNC)
    session = Session(graph, backend, functions, initial, **layout)
    if loaded.document.init:
        session.run([], loaded.feeds(), [loaded.document.init])
        given = Session(graph, backend, functions, initial).store
        for name, array in given.items():
            session.store.set(name, array)
    return session


def require_request(document: Document) -> GradientRequest:
    """The document's main request. Raises GradstepError (UsageError) when it asks for nothing."""
    request = main_request(document)
    if not request.of or not request.wrt:
        flag = "--wrt" if request.of else "--of"
        raise usage(f"{flag} is missing, and the document does not say", f"write {flag} NAME")
    for ref in (*request.of, *request.wrt):
        document.graph[ref.op]
    return request


def _with_feeds(
    document: Document, arrays: Mapping[TensorRef, np.ndarray]
) -> Mapping[str, Constant]:
    """The document's feeds with the given ones over them; "x" and "x:0" are the same tensor."""
    feeds = {str(TensorRef.parse(name)): value for name, value in document.feeds.items()}
    return {**feeds, **{str(ref): Constant(array) for ref, array in arrays.items()}}


def _say_what_is_cut_off(given: Mapping[str, Any], arrays: Mapping[TensorRef, np.ndarray]) -> None:
    """TensorFlow makes whole numbers of fractions without a word; so do we, but with one."""
    for name, value in given.items():
        array, exact = arrays[TensorRef.parse(name)], np.asarray(value)
        if array.dtype.kind not in "iu" or exact.dtype.kind != "f":
            continue
        cut = np.argwhere(exact != array)
        if len(cut):
            first = tuple(int(i) for i in cut[0])
            print(
                f"warning: '{name}' holds {array.dtype}, so {exact[first]} is fed as "
                f"{array[first]}; round it yourself, or make the placeholder float32",
                file=sys.stderr,
            )


def _refuse_non_finite(arrays: Mapping[TensorRef, np.ndarray]) -> None:
    """A NaN in a feed is nearly always a mistake upstream: say so before it spreads."""
    for ref, array in arrays.items():
        if array.dtype.kind not in "fc":
            continue
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            index = tuple(int(i) for i in bad[0])
            place = f" at index {list(index)}" if index else ""
            raise GradstepError(
                f"the value fed to '{ref.short}' is {array[index]}{place}",
                kind="ValueError",
                node=ref.op,
                index=index,
                hint="mend the value, or pass --allow-nan to run with it on purpose",
            )


def _request(document: Document, args: argparse.Namespace) -> GradientRequest:
    request = document.request
    stops, edges = set(request.stops), set(request.stopped_edges)
    for text in getattr(args, "stop", ()):
        if "<" in text:
            edges.add(_edge(document.graph, text))
        else:
            stops.add(_stop(document.graph, text))
    overrides = [_override(document.graph, text) for text in getattr(args, "override", ())]
    return replace(
        request,
        of=tuple(_tensor(document.graph, n) for n in args.of) or request.of,
        wrt=tuple(_tensor(document.graph, n) for n in args.wrt) or request.wrt,
        stops=frozenset(stops),
        stopped_edges=frozenset(edges),
        overrides=(*request.overrides, *overrides),
        grad_ys=_grad_ys(document.graph, args) or request.grad_ys,
        unconnected_zero=_unconnected_zero(request, args),
        gate=request.gate or getattr(args, "gate", False),
    )


def _grad_ys(graph: Graph, args: argparse.Namespace) -> tuple[TensorRef | None, ...]:
    return tuple(None if n == "-" else _tensor(graph, n) for n in getattr(args, "grad_ys", ()))


def _unconnected_zero(request: GradientRequest, args: argparse.Namespace) -> bool:
    said = getattr(args, "unconnected", None)
    return request.unconnected_zero if said is None else said == "zero"


def _tensor(graph: Graph, text: str) -> TensorRef:
    ref = TensorRef.parse(text)
    graph[ref.op]  # raises, with near misses
    return ref


def _stop(graph: Graph, text: str) -> TensorRef:
    """A tensor through which nothing flows back; it may be inside a loop."""
    ref = TensorRef.parse(text)
    anywhere(graph, ref.op)
    return ref


def _edge(graph: Graph, text: str) -> Edge:
    edge = Edge.parse(text)
    count = len(anywhere(graph, edge.op).inputs)
    if edge.index >= count:
        raise GradstepError(
            f"'{edge.op}' has {count} inputs, so there is no wire {edge}",
            kind="ValueError",
            node=edge.op,
            hint=f"the first wire is {edge.op}<0",
        )
    return edge


def _override(graph: Graph, text: str) -> Override:
    target, equals, gradient = text.partition("=")
    if not equals or not target or not gradient:
        raise usage(f"'{text}' is not TARGET=GRADIENT", "write --override Floor=Identity")
    return Override(gradient, target, _override_kind(graph, target))


def _override_kind(graph: Graph, target: str) -> OverrideKind:
    if target.endswith("/"):
        if any(op.name.startswith(target) for op in within(graph)):
            return OverrideKind.SCOPE
    elif any(op.type == target for op in within(graph)):
        return OverrideKind.TYPE
    elif any(op.name == target for op in within(graph)):
        return OverrideKind.OP
    text, hint = near_miss(graph, _meant(graph, target), target.rstrip("/"))
    raise GradstepError(text, kind="ValueError", hint=hint)


def _meant(graph: Graph, target: str) -> OverrideKind:
    """What a target that matches nothing was to name: an operation only if one is called nearly
    so, and no type."""
    if target.endswith("/"):
        return OverrideKind.SCOPE
    if near(target, {op.type for op in within(graph)}) or not near(target, _names(graph)):
        return OverrideKind.TYPE
    return OverrideKind.OP


def _names(graph: Graph) -> list[str]:
    return [op.name for op in within(graph)]


def _functions(document: Document, args: argparse.Namespace) -> Mapping[str, Function]:
    if not document.code:
        return {}
    trusted = args.trust or is_trusted(document)
    if not trusted:
        return {name: _refusal(document, args.file) for name in document.code}
    functions, errors = functions_of(document.code.values(), trusted=True)
    if errors:
        raise errors[0]
    return functions


def _refusal(document: Document, file: str) -> Function:
    """What stands for functions that have not been trusted: it only raises."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise GradstepError(
            f"the document's Python ({', '.join(sorted(document.code))}) is not trusted, "
            "so it does not run",
            kind="UntrustedCodeError",
            hint=f"read it with `gradstep convert {file} -`, then pass --trust",
        )

    return refuse
