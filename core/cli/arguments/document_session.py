"""From arguments to what a verb works on: the document, its functions, a started session."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.cli.arguments.code_file import code_from
from gradstep.core.cli.arguments.feed_args import read_feeds, with_feeds
from gradstep.core.cli.arguments.request_args import as_asked
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.output.command_output import warn
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.feed_placeholders import with_placeholders
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.feed_values import feed_arrays
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.program.function_kinds import in_role
from gradstep.core.program.sandbox import is_confined
from gradstep.core.program.trust.code_permission import Permission
from gradstep.core.program.trust.code_trust import permission, set_aside_damage
from gradstep.core.program.user_code import Function, functions_of


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
    document = read(args.file, budget(args))
    may = _permission(document, args)
    arrays = read_feeds(document.graph, args)
    if arrays:
        document = with_placeholders(document.with_(feeds=with_feeds(document, arrays)))
    if getattr(args, "init", None):
        document = document.with_(init=document.graph[args.init].name)
    if hasattr(args, "of"):
        document = as_asked(document, args)
    return _with_functions(document, args, may)


def as_it_stands(args: argparse.Namespace) -> Loaded:
    """The document of `args.file`, whatever else the arguments say. Raises GradstepError."""
    document = read(args.file, budget(args))
    return _with_functions(document, args, _permission(document, args))


def start(
    loaded: Loaded, graph: Graph, backend: Backend, initial: Mapping[str, Any], **layout: Any
) -> Session:
    """A session on `graph` whose variables are initialised: by `init`, then by `initial`. layout:
    as `arguments.layout` gives it; by default recorded."""
    functions = loaded.of_kind(CodeKind.PYFUNC)
    session = Session(graph, backend, functions, initial, **layout)
    if loaded.document.init:
        there = {ref: value for ref, value in loaded.feeds().items() if ref.op in graph}
        session.run([], there, [loaded.document.init])
        given = Session(graph, backend, functions, initial).store
        for name, array in given.items():
            session.store.set(name, array)
    return session


def _permission(document: Document, args: argparse.Namespace) -> Permission:
    """What the Python of the document, as its file has it, may do: as the arguments say, or as was
    decided."""
    if args.trust or not document.code:
        return Permission.FULL
    if getattr(args, "sandbox", False):
        return Permission.CONFINED
    damage = set_aside_damage()
    if damage is not None:
        warn(damage)
    return permission(document)


def _with_functions(document: Document, args: argparse.Namespace, may: Permission) -> Loaded:
    """The document with the code of `args.code`, which may run, and its own, if that may."""
    given = code_from(document, args.code) if args.code else {}
    own = {name: item for name, item in document.code.items() if name not in given}
    trusted = not own or may is Permission.FULL or (may.runs and is_confined())
    functions, errors = functions_of([*given.values(), *(own.values() if trusted else ())], True)
    if errors:
        raise errors[0]
    if not trusted:
        functions |= {name: _refusal(own, args.file, may) for name in own}
    return Loaded(document.with_(code={**own, **given}), functions)


def _refusal(code: Iterable[str], file: str, may: Permission) -> Function:
    """What stands for functions that have not been trusted: it only raises."""
    names = ", ".join(sorted(code))
    why = "is trusted without network and files only" if may.runs else "is not trusted"

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise GradstepError(
            f"the document's Python ({names}) {why}, so it does not run",
            kind="UntrustedCodeError",
            hint=f"pass --sandbox; or read it with `gradstep convert {file} -`, then pass --trust",
        )

    return refuse
