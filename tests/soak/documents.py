"""What is walked on: every example that comes with the program, and GraphDefs of TensorFlow's."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow import graphdef_import
from gradstep.core.program.trust.example_index import EXAMPLES

_DATA = Path(__file__).parents[1] / "data"
_IMPORTED = {
    "tensorflow/graphs.zip": (
        "adam_minimize", "batch_norm_update_ops", "cond_v1", "dqn", "queue_runner",
        "dynamic_rnn_BasicRNNCell_training", "while_loop_with_gradient", "while_with_cond",
        "two_networks_var_list", "where_nan_trap",
    ),
    "tensorflow/conds.zip": ("cond_updates", "cond_nested"),
    "gradients/graphs.zip": ("adam_resource", "embedding", "gradients_named", "overridden"),
}  # fmt: skip


@cache
def names() -> tuple[str, ...]:
    """Of all documents: examples as they are called, GraphDefs with .pb."""
    own = sorted(path.stem for path in EXAMPLES.glob("*.gradstep"))
    return (*own, *(f"{name}.pb" for names in _IMPORTED.values() for name in names))


def of_seed(seed: int) -> str:
    """The document of a walk: consecutive seeds go through all of them."""
    return names()[seed % len(names())]


def load(name: str) -> Document:
    """Raises KeyError for a name that is not among `names`."""
    if not name.endswith(".pb"):
        if name not in names():
            raise KeyError(name)
        return gradstep_file.load(EXAMPLES / f"{name}.gradstep")
    stem = name.removesuffix(".pb")
    archive = next(each for each, held in _IMPORTED.items() if stem in held)
    with zipfile.ZipFile(_DATA / archive) as members:
        return graphdef_import.from_pb(members.read(name), name)
