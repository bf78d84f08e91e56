"""Who makes the runs of a sweep: processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import argparse
import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from gradstep.core.cli.arguments.shared_arguments import require_with
from gradstep.core.cli.command_line import verb_parser
from gradstep.core.cli.output.command_output import usage, warn
from gradstep.core.cli.runs.sweep_campaign import Workers
from gradstep.core.cli.runs.worker_rights import begin_workers
from gradstep.core.cli.sandboxed import named_files
from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.worker_messages import Begin
from gradstep.core.host.workers.worker_pool import WorkerPool
from gradstep.core.sweep.sweep_folder import SweepFolder


class Tell(Protocol):
    """What hears of how far a run is."""

    def __call__(self, future: Future[Any], news: dict[str, Any]) -> None: ...


def open_workers(args: argparse.Namespace, folder: SweepFolder, tell: Tell) -> Workers:
    """Raises GradstepError: UsageError, or UnavailableError for what this machine lacks."""
    tls = {name: getattr(args, f"tls_{name}") for name in ("ca", "cert", "key")}
    if args.cluster:
        if args.sandbox:
            raise usage(
                "--sandbox confines processes of this machine, and --cluster has others",
                "leave one of them away",
            )
        if urlsplit(args.cluster).scheme != "tls" and not _is_here(args.cluster):
            warn(_open_to_all(args.cluster))
        from gradstep.core.host.workers.dask_workers import DaskWorkers

        workers: Workers = DaskWorkers(args.cluster, tell, **tls)
        return workers
    require_with(args, "--cluster", ["tls_ca", "tls_cert", "tls_key"], "say --cluster tls://…")
    count = min(args.workers or os.cpu_count() or 1, len(folder.record.runs))
    return WorkerPool(count, _begin(args, folder), tell)


def _begin(args: argparse.Namespace, folder: SweepFolder) -> Begin:
    words = [*folder.record.arguments, "--", str(folder.document)]
    given = verb_parser("train").parse_args(words)
    read = (*named_files(given), args.code)
    return begin_workers(args.sandbox, given, read, [str(Path(folder.path, "runs"))])


def _is_here(address: str) -> bool:
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def _open_to_all(address: str) -> GradstepError:
    return GradstepError(
        f"{address} is neither encrypted nor protected: who reaches it runs code there and here",
        kind="Warning",
        hint="start scheduler and workers with TLS, and name it tls://… with --tls-ca, --tls-cert "
        "and --tls-key",
    )
