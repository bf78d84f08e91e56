"""The types of a document's tensors, as far as they are known before a run."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes


def declared_types(document: Document) -> TensorTypes:
    """Of all tensors, those in loops too, behind what is fed in place of unknown operations too."""
    graph = with_placeholders(document).graph
    return flatten_loop_types(graph, infer_declared(graph)).types
