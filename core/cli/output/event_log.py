"""What training writes for TensorBoard: the graph, then the summaries of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

import numpy as np

from gradstep.core.cli.runs.training_steps import Asked
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.io.event_files import EventFile
from gradstep.core.ops.formats.histogram_proto import histogram_bytes
from gradstep.core.ops.formats.summary_proto import histogram, number
from gradstep.core.program.questions.loaded_document import Loaded


class EventLog:
    """An event file of one training. notes: what could not be written, for people."""

    def __init__(self, folder: str, loaded: Loaded, what: Asked) -> None:
        self.notes: list[str] = []
        self._file = EventFile(folder)
        self._add_graph(loaded, what)

    @property
    def path(self) -> str:
        return str(self._file.path)

    def add(
        self, step: int, values: Mapping[str, np.ndarray | None], summaries: Sequence[bytes]
    ) -> None:
        """The summaries of a step, or of its values where it computes none."""
        for summary in summaries or [_summary(values)]:
            self._file.add_summary(step, summary)
        self._file.flush()

    def __enter__(self) -> EventLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, error, trace)

    def _add_graph(self, loaded: Loaded, what: Asked) -> None:
        """With gradients and updates; without initial values, which may be large."""
        from gradstep.core.io.tensorflow.graphdef_export import to_graphdef

        try:
            graph = to_graphdef(loaded.document, what.program.graph, {})
        except GradstepError as error:
            self.notes.append(f"the event file has no graph: {error.message}")
        else:
            self._file.add_graph(graph.SerializeToString(deterministic=True))


def _summary(values: Mapping[str, np.ndarray | None]) -> bytes:
    return b"".join(
        _value(name.encode(), value)
        for name, value in values.items()
        if value is not None and kind_of(value.dtype) in "fiub"
    )


def _value(tag: bytes, value: np.ndarray) -> bytes:
    """One number; of several, how they are spread, which NaN and infinity have no place in."""
    if value.size == 1:
        return number(tag, float(value.item()))
    numbers = value.astype(np.float64).ravel()
    return histogram(tag, histogram_bytes(numbers)) if np.isfinite(numbers).all() else b""
