"""Saving what training trained: the document, with new initial values."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gradstep.core.cli.arguments.optimizer_args import with_optimizer
from gradstep.core.cli.arguments.output_files import require_other_file
from gradstep.core.cli.arguments.shared_arguments import budget, require_with
from gradstep.core.cli.output.command_output import usage
from gradstep.core.cli.trust import pass_trust_on
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.io.disk.atomic_write import require_writable
from gradstep.core.io.formats.gradstep_document import SUFFIX, is_named_as_own
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read


@dataclass(frozen=True)
class Saving:
    """path: what is written; document: as its file has it, without what was fed or asked here;
    chosen: that, with the optimizer of --optimizer."""

    path: Path
    document: Document
    chosen: Document

    def write(self, variables: Mapping[str, Constant]) -> None:
        """All of it or nothing. Raises GradstepError (FileError)."""
        trained = self.chosen.with_(initial={**self.document.initial, **variables})
        gradstep_file.save(self.path, trained)
        pass_trust_on(self.document, trained, self.path)


def read_saving(args: argparse.Namespace) -> Saving | None:
    """What --out asks for; None for nothing. Raises GradstepError, before anything has
    run, where that could not be written."""
    if args.out is None:
        require_with(args, "--out", ["overwrite"], "say --out FILE")
        return None
    path = Path(args.out)
    if not is_named_as_own(path):
        raise usage(f"--out writes {SUFFIX} files, not {args.out}", f"name it NAME{SUFFIX}")
    require_other_file(args, "out")
    require_writable(path)
    document = read(args.file, budget(args))
    return Saving(path, document, with_optimizer(document, args))
