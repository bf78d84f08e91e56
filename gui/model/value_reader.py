"""Values that are written, pasted, generated or in files, read where nobody waits for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import is_quick, typed_value
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Constant, Graph
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.gui.model.background_work import Background

if TYPE_CHECKING:
    from gradstep.core.data.restored_variables import Restored


def read_now(text: str, kind: TensorType, name: str) -> Constant | None:
    """The value that a text writes out; None where it names a file, has to be generated, or is so
    long that `ValueReader` is to read it. Raises GradstepError."""
    if not is_quick(text):
        return None
    return Constant.taking(typed_value(text, kind, name, Reading()))


class ValueReader(QObject):
    """Reads beside the main thread; hands over what was not given up by then."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._background = Background(self)
        self._number = 0
        self._running = 0

    @property
    def is_reading(self) -> bool:
        return self._running > 0

    def read(
        self,
        text: str,
        kind: TensorType,
        name: str,
        folder: Path,
        then: Callable[[Constant], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """Of the value of `name`. folder: in which a relative path begins."""

        def work() -> Constant:
            return Constant.taking(typed_value(text, kind, name, Reading(folder)))

        self._run(work, then, failed)

    def read_shapes(
        self,
        path: Path,
        then: Callable[[dict[str, tuple[int, ...]]], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """Of the arrays in a file, by their names."""

        def work() -> dict[str, tuple[int, ...]]:
            from gradstep.core.data.source_survey import array_shapes

            return array_shapes(str(path), Reading(budget=Budget()))

        self._run(work, then, failed)

    def read_variables(
        self,
        graph: Graph,
        path: Path,
        then: Callable[[Restored], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """Of all variables of a graph, as a checkpoint has them."""

        def work() -> Restored:
            from gradstep.core.data.restored_variables import restore_variables

            return restore_variables(graph, path, Budget())

        self._run(work, then, failed)

    def _run(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        number = self._number
        self._running += 1

        def made(found: Any) -> None:
            if number == self._number:
                self._running -= 1
                then(found)

        def gave_up(error: GradstepError) -> None:
            if number == self._number:
                self._running -= 1
                failed(error)

        self._background.run(work, made, gave_up)

    def stop(self) -> None:
        """Nothing that is being read is waited for any more."""
        self._number += 1
        self._running = 0
