"""A small network for the two spirals: two inputs, tanh layers, sigmoid cross-entropy, Adam."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops.api.tf_cross_entropies import sigmoid_cross_entropy_with_logits
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing

WIDTHS = (2, 16, 16, 1)


def spirals(
    dropout: bool = False, validate: float = 0.25, epochs: int = 5, note: str = "", **rest: Any
) -> Document:
    """dropout: half of the first layer's units, drawn anew in each run. rest: of the document."""
    d, random = Drawing(), np.random.default_rng(1)
    x = d.fed("x", np.zeros((1, 2)), shape=(None, 2))
    y = d.fed("y", np.zeros((1, 1)), shape=(None, 1))
    layer: Tensor = x
    names = []
    for number, (rows, columns) in enumerate(itertools.pairwise(WIDTHS)):
        start = random.normal(size=(rows, columns)) * np.sqrt(2 / rows)
        w, b = d.variable(f"w{number}", start), d.variable(f"b{number}", np.zeros(columns))
        names += [f"w{number}", f"b{number}"]
        layer = d.g.one("BiasAdd", d.g.one("MatMul", layer, w), b, name=f"layer{number}")
        if columns > 1:
            layer = d.g.one("Tanh", layer, name=f"tanh{number}")
        if dropout and not number:
            noise = d.g.one(
                "RandomUniform", d.g.one("Shape", layer), dtype=layer.dtype, seed=1, seed2=2
            )
            layer = layer * d.g.one("Cast", noise > 0.5, DstT=layer.dtype)
    d.mean(sigmoid_cross_entropy_with_logits(labels=y, logits=layer), "loss")
    columns = {"x:0": "@spirals:x", "y:0": "@spirals:y"}
    data = Dataset(columns, shuffle=1, validate=validate, epochs=epochs)
    adam = Optimizer("Adam", {"learning_rate": 0.01})
    return d.document(
        "Two spirals",
        note,
        of="loss",
        wrt=" ".join(names),
        collapsed="logistic_loss",
        optimizers=(adam,),
        **rest,
    ).with_(data=data)
