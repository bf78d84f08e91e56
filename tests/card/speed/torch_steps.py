"""PyTorch's side: a workload's step as its users write it, and captured as a CUDA graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.bench.program import Program

_BEFORE = 3  # steps before one is captured: PyTorch's own recipe


class CannotCaptureError(Exception):
    """Why there is no CUDA graph; the process is of no use after it where `lost`."""

    def __init__(self, text: str, lost: bool = False) -> None:
        super().__init__(text)
        self.lost = lost


def set_up() -> None:
    """As Gradstep computes: in float32 throughout. And as fast as that goes."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def program(build: Callable[[], Program], on: str, way: str) -> Iterator[Program]:
    """What `build` makes, on device `on`, while the `with` lasts: the stream is the graph's own
    then. Raises CannotCaptureError."""
    import torch

    if way == "graph" and on != "cuda":
        raise CannotCaptureError(f"there are no CUDA graphs on {on}")
    if way == "eager":
        # While they are made alone: as a lasting default it would slow every call.
        with torch.device(on):
            made = build()
        yield made
        return
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    # All of it on one stream: a backward pass goes to the streams that its forward was on.
    with torch.cuda.stream(stream):
        with torch.device(on):
            made = build()
        yield _captured(made, stream)


def _captured(made: Program, stream: Any) -> Program:
    """The graph has addresses alone: who uses it keeps `made`, and what its step works on."""
    import torch

    for _ in range(_BEFORE):
        made.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=stream):
            made.step()
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise CannotCaptureError(f"{type(error).__name__}: {said}", lost=True) from error
    torch.cuda.synchronize()
    return replace(made, step=graph.replay)
