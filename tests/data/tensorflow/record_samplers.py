"""Record what TensorFlow's candidate samplers draw, run after run, into samplers.zip.

Needs TensorFlow 2.21, which the tests do not: `python record_samplers.py`. NAME.pb is the graph,
and NAME.json its runs in one session.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
FILE = Path(__file__).with_name("samplers.zip")
TRUE = np.array([[0, 3], [9, 1], [2, 2]], np.int64)
UNIGRAMS = [5.0, 1.0, 0.5, 7.0, 2.5, 0.1, 3.0, 3.0, 0.0, 4.0]


def sampled(classes, number, kind, **attrs):
    return getattr(tf.raw_ops, f"{kind}CandidateSampler")(
        true_classes=classes, num_true=2, seed=87654321, seed2=11 + number, **attrs
    )


def learned(classes, kind):
    return [
        sampled(classes, 0, kind, num_sampled=6, unique=False, range_max=10),
        sampled(classes, 1, kind, num_sampled=4, unique=True, range_max=16),
        sampled(classes, 2, kind, num_sampled=40, unique=True, range_max=1000),
    ]


def fixed(classes):
    kind, some = "FixedUnigram", {"range_max": 10, "unigrams": UNIGRAMS}
    return [
        sampled(classes, 0, kind, num_sampled=12, unique=False, **some),
        sampled(classes, 1, kind, num_sampled=5, unique=True, **some),
        sampled(classes, 2, kind, num_sampled=7, unique=True, distortion=0.75, **some),
        sampled(
            classes, 3, kind, num_sampled=6, unique=False, range_max=12, unigrams=UNIGRAMS,
            num_reserved_ids=2, distortion=0.3,
        ),
        sampled(
            classes % 3, 4, kind, num_sampled=6, unique=False, range_max=3, unigrams=UNIGRAMS,
            num_reserved_ids=1, num_shards=3, shard=1,
        ),
        sampled(
            classes, 5, kind, num_sampled=300, unique=True, range_max=500,
            unigrams=[float(1 + n * n % 97) for n in range(500)], distortion=0.5,
        ),
    ]  # fmt: skip


def of_all(classes):
    return [sampled(classes, 0, "All", num_sampled=10, unique=True)]


GRAPHS = {
    "sampler_fixed": fixed,
    "sampler_learned": lambda classes: learned(classes, "LearnedUnigram"),
    "sampler_unsafe": lambda classes: learned(classes, "ThreadUnsafeUnigram"),
    "sampler_all": of_all,
}


def written(array):
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": array.tolist()}


def recorded(make):
    """The graph, and three runs: the second counts other classes."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        classes = v1.placeholder(tf.int64, [None, 2], "classes")
        tensors = [t for each in make(classes) for t in each]
        steps = []
        for true in (TRUE, TRUE // 2, TRUE):
            values = session.run(tensors, {classes: true})
            fetches = {t.name: written(v) for t, v in zip(tensors, values, strict=True)}
            feeds = {"classes:0": written(true)}
            steps.append({"feeds": feeds, "targets": [], "fetches": fetches})
        return graph.as_graph_def().SerializeToString(), {"init": "", "steps": steps}


def main():
    with zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, make in GRAPHS.items():
            graph, said = recorded(make)
            for suffix, data in (("json", json.dumps(said).encode()), ("pb", graph)):
                about = zipfile.ZipInfo(f"{name}.{suffix}", (2020, 1, 1, 0, 0, 0))
                about.compress_type = zipfile.ZIP_DEFLATED
                z.writestr(about, data)


if __name__ == "__main__":
    main()
