"""SavedModels and MetaGraphs as text: the same as the binary ones, which they are made into."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError, in_words
from gradstep.core.io.tensorflow.graphdef_import import TEXT
from gradstep.core.io.tensorflow.graphdef_proto import message


def saved_model_bytes(text: bytes, name: str, budget: Budget) -> bytes:
    """Raises GradstepError: FileError, or OverBudgetError."""
    return _bytes("SavedModel", text, name, budget)


def meta_graph_bytes(text: bytes, name: str, budget: Budget) -> bytes:
    """Raises GradstepError: FileError, or OverBudgetError."""
    return _bytes("MetaGraphDef", text, name, budget)


def _bytes(kind: str, text: bytes, name: str, budget: Budget) -> bytes:
    from google.protobuf import text_format

    made = message(kind)()
    try:
        budget.take(TEXT * len(text), f"a graph as {in_words(len(text))} of text")
        text_format.Parse(text.decode(), made, allow_unknown_field=True)
    except OverBudgetError as error:
        raise error.inside(name or "the file") from None
    except (UnicodeDecodeError, text_format.ParseError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise GradstepError(
            f"{name or 'the file'} is not a {kind} as text: {reason}",
            kind="FileError",
            hint="correct that line",
        ) from None
    return bytes(made.SerializeToString())
