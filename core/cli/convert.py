"""Write a document in another format, chosen by the suffix of OUT; `-` prints it as Python."""

from __future__ import annotations

import argparse
from pathlib import Path

from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.command_table import WRITTEN
from gradstep.core.cli.injected import PICTURES, Answer, Application
from gradstep.core.cli.output.command_output import usage
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.export_document import to_bytes, unknown_format, write
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.code_file import code_from


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Write OUT. Nothing in the document is run, so it need not be trusted."""
    suffix = Path(args.out).suffix.lower()
    if args.out != "-" and suffix not in WRITTEN:
        error = unknown_format(suffix, WRITTEN)
        raise usage(error.message, error.hint)
    document = read(args.file, budget(args))
    if args.code:
        code = {**document.code, **code_from(document, args.code)}
        document = document.with_(code=code)
    if args.out == "-":
        text = to_bytes(document, ".py").decode().rstrip("\n")
        return Answer({"text": text}, text)
    if suffix in PICTURES:
        replace_file(args.out, app.picture(document, suffix))
    else:
        write(args.out, document)
    return Answer({"written": args.out}, f"wrote {args.out}")
