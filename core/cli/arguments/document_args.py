"""From arguments to what a verb works on: the document and its functions."""

from __future__ import annotations

import argparse

from gradstep.core.cli.arguments.feed_args import read_feeds
from gradstep.core.cli.arguments.optimizer_args import with_optimizer
from gradstep.core.cli.arguments.request_args import query_of
from gradstep.core.cli.arguments.restore_args import with_restored
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.output.command_output import warn
from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_feeds
from gradstep.core.document.placement_edits import place_as_written
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.code_from_file import code_from
from gradstep.core.program.questions.gradient_query import as_asked
from gradstep.core.program.questions.loaded_document import Loaded, with_functions
from gradstep.core.program.trust.code_trust import permission, set_aside_damage
from gradstep.core.program.trust.permission_levels import Permission


def load(args: argparse.Namespace) -> Loaded:
    """The document of `args.file` with its variables, feeds, init, and gradient request as the
    arguments say. Raises GradstepError."""
    document = read(args.file, budget(args))
    may = _permission(document, args)
    document = place_as_written(with_restored(document, args), getattr(args, "place", ()))
    arrays = read_feeds(document.graph, args)
    if arrays:
        document = with_feeds(document, arrays)
    if getattr(args, "init", None):
        document = document.with_(init=document.graph[args.init].name)
    if hasattr(args, "wrt"):
        document = as_asked(document, query_of(args))
    return _with_functions(with_optimizer(document, args), args, may)


def as_it_stands(args: argparse.Namespace) -> Loaded:
    """The document of `args.file`, whatever else the arguments say. Raises GradstepError."""
    document = read(args.file, budget(args))
    return _with_functions(document, args, _permission(document, args))


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
    read_it = f"read it with `gradstep convert {args.file} -`, then pass --trust"
    return with_functions(document, given, may, f"pass --sandbox; or {read_it}")
