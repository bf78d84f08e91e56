"""Record what TensorFlow users have on disk, with values and gradients, into models.zip.

Needs TensorFlow 2.21, which the tests do not: `python record.py`, or `python record.py CASE…` for
some. Every case is a folder in the zip: the files as TensorFlow wrote them, and `facts.npz` with
what TensorFlow computed of them:
`feed/NAME`, `value/NAME`, `gradient/VARIABLE` (of the sum of the elements of the tensor that
`facts.json` calls `of`).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function

v1 = tf.compat.v1
FILE = Path(__file__).with_name("models.zip")
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def facts(folder, of, feeds, values, gradients, **more):
    arrays = {f"feed/{k}": v for k, v in feeds.items()}
    arrays |= {f"value/{k}": np.asarray(v) for k, v in values.items()}
    arrays |= {f"gradient/{k}": np.asarray(v) for k, v in gradients.items()}
    np.savez_compressed(folder / "facts.npz", **arrays)
    (folder / "facts.json").write_text(json.dumps({"of": of, **more}))


def run_1(folder, session, loss, feeds, wanted, **more):
    """Values, and gradients of all trainable variables, made after the graph was saved."""
    variables = v1.trainable_variables()
    grads = tf.gradients(loss, variables)
    dense = [
        None if g is None else g if isinstance(g, tf.Tensor) else tf.convert_to_tensor(g)
        for g in grads
    ]
    there = {v.op.name: g for v, g in zip(variables, dense) if g is not None}
    values, gradients = session.run(({t.name: t for t in wanted}, there), dict(feeds.items()))
    named = {t.name: x for t, x in feeds.items()}
    facts(
        folder,
        loss.name,
        named,
        values,
        gradients,
        trained=sorted(v.op.name for v in variables),
        **more,
    )


def numbers(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


# -- TensorFlow 1 ----------------------------------------------------------------------------------


@case
def tf1_simple_save(folder):
    """A convolutional network with ref and resource variables, trained two steps, simple_save."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        x = v1.placeholder(tf.float32, [None, 6, 6, 1], "x")
        y = v1.placeholder(tf.int64, [None], "y")
        k = v1.get_variable("conv/kernel", [3, 3, 1, 4], use_resource=False)
        h = tf.nn.relu(tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"), name="h")
        h = tf.reshape(tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), [-1, 36])
        w = v1.get_variable("dense/w", [36, 3], use_resource=True)
        b = v1.get_variable("dense/b", [3], use_resource=True, initializer=v1.zeros_initializer())
        v1.get_variable("steps_seen", [], tf.float32, v1.zeros_initializer(), trainable=False)
        logits = tf.add(tf.matmul(h, w), b, name="logits")
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(losses, name="loss")
        train = v1.train.AdamOptimizer(0.01).minimize(loss)
        session.run(v1.global_variables_initializer())
        feeds = {x: numbers(1, 5, 6, 6, 1), y: np.array([0, 1, 2, 1, 0])}
        for _ in range(2):
            session.run(train, feeds)
        v1.saved_model.simple_save(session, str(folder / "model"), {"x": x}, {"logits": logits})
        run_1(folder, session, loss, feeds, [logits, loss], open="model", fetches=["logits:0"])


@case
def tf1_saver(folder):
    """A Saver's checkpoint: partitioned and sparse variables, momentum, losses, train_op."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(2)
        ids = v1.placeholder(tf.int32, [None], "ids")
        target = v1.placeholder(tf.float32, [None, 2], "target")
        parts = v1.get_variable(
            "embedding", [7, 4], partitioner=v1.fixed_size_partitioner(3), use_resource=False
        )
        rows = tf.nn.embedding_lookup(parts, ids, name="rows")
        w = v1.get_variable("out/w", [4, 2], use_resource=True)
        unused = v1.get_variable(
            "frozen", [2], trainable=False, use_resource=True, initializer=v1.ones_initializer()
        )
        out = tf.add(tf.matmul(rows, w), unused, name="out/y")
        loss = v1.losses.mean_squared_error(target, out)
        step = v1.train.get_or_create_global_step()
        optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
        train = optimizer.minimize(loss, global_step=step)
        v1.add_to_collection("train_op", train)
        session.run(v1.global_variables_initializer())
        feeds = {ids: np.array([0, 3, 6, 3], np.int32), target: numbers(3, 4, 2)}
        for _ in range(3):
            session.run(train, feeds)
        saver = v1.train.Saver()
        saver.save(session, str(folder / "model.ckpt"), global_step=step)
        run_1(folder, session, loss, feeds, [out, loss], open="model.ckpt-3.meta")


@case
def tf1_sharded(folder):
    """The same checkpoint as shards, of a graph with a loop and a cond of TensorFlow 1."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [2, 3], "x")
        with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
            w = v1.get_variable("w", initializer=0.3 * numbers(4, 3, 3), use_resource=True)
        v = v1.get_variable("v", initializer=numbers(5, 3), use_resource=False)
        _, h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h @ w)), [0, x])
        y = tf.cond(tf.reduce_sum(h) > 0, lambda: h * v, lambda: h - v)
        loss = tf.reduce_sum(y, name="loss")
        session.run(v1.global_variables_initializer())
        v1.train.Saver(sharded=True).save(session, str(folder / "model.ckpt"))
        run_1(folder, session, loss, {x: numbers(6, 2, 3)}, [loss], open="model.ckpt.meta")


@case
def tf1_tables(folder):
    """A SavedModel with an asset: a vocabulary that a lookup table is filled from."""
    vocabulary = folder / "vocabulary.txt"
    vocabulary.write_text("red\ngreen\nblue\n")
    with tf.Graph().as_default(), v1.Session() as session:
        words = v1.placeholder(tf.string, [None], "words")
        initializer = tf.lookup.TextFileInitializer(
            str(vocabulary),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        table = v1.lookup.StaticHashTable(initializer, 3)
        ids = table.lookup(words)
        rows = v1.get_variable("rows", initializer=numbers(7, 4, 2), use_resource=True)
        out = tf.reduce_sum(tf.nn.embedding_lookup(rows, ids) ** 2, 1, name="out")
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        builder = v1.saved_model.Builder(str(folder / "model"))
        signature = v1.saved_model.predict_signature_def({"words": words}, {"out": out})
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {"serving_default": signature},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            main_op=v1.tables_initializer(),
            strip_default_attrs=True,
        )
        builder.save()
        feeds = {words: np.array([b"blue", b"red", b"pink"])}
        run_1(folder, session, out, feeds, [out], open="model", fetches=["out:0"])
    vocabulary.unlink()


@case
def tf1_events(folder):
    """The graph in an event file."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2, 3], "x")
        w = v1.get_variable("w", initializer=numbers(8, 3, 2), use_resource=True)
        loss = tf.reduce_sum(tf.tanh(x @ w), name="loss")
        session.run(v1.global_variables_initializer())
        writer = v1.summary.FileWriter(str(folder), session.graph)
        writer.close()
        run_1(folder, session, loss, {x: numbers(9, 2, 3)}, [loss])
    (found,) = folder.glob("events*")
    found.rename(folder / "events.out.tfevents.1700000000.machine")
    said = json.loads((folder / "facts.json").read_text())
    said["open"] = "events.out.tfevents.1700000000.machine"
    (folder / "facts.json").write_text(json.dumps(said))


@case
def tf1_words(folder):
    """Word vectors trained with noise contrast: classes are drawn anew in each step."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(7)
        centres = v1.placeholder(tf.int32, [None], "centres")
        contexts = v1.placeholder(tf.int64, [None, 1], "contexts")
        vectors = v1.get_variable("vectors", initializer=numbers(31, 50, 4), use_resource=False)
        weights = v1.get_variable("weights", initializer=numbers(32, 50, 4), use_resource=False)
        biases = v1.get_variable("biases", initializer=numbers(33, 50), use_resource=False)
        rows = tf.nn.embedding_lookup(vectors, centres)
        losses = v1.nn.nce_loss(weights, biases, contexts, rows, num_sampled=8, num_classes=50)
        loss = tf.reduce_mean(losses, name="loss")
        v1.train.GradientDescentOptimizer(0.5).minimize(loss, name="train")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(folder / "model.ckpt"))
        feeds = {centres: np.array([3, 9, 3], np.int32), contexts: np.array([[1], [4], [0]])}
    with tf.Graph().as_default(), v1.Session() as session:  # which has drawn nothing yet
        saver = v1.train.import_meta_graph(str(folder / "model.ckpt.meta"))
        saver.restore(session, str(folder / "model.ckpt"))
        graph = v1.get_default_graph()
        loss = graph.get_tensor_by_name("loss:0")
        feeds = {graph.get_tensor_by_name(t.name): x for t, x in feeds.items()}
        run_1(folder, session, loss, feeds, [loss], open="model.ckpt.meta")


@case
def tf1_dataset(folder):
    """A training that is fed by a dataset, through an iterator that it fills."""
    with tf.Graph().as_default(), v1.Session() as session:
        rows = numbers(26, 6, 3), numbers(27, 6)
        dataset = tf.data.Dataset.from_tensor_slices(rows).map(lambda x, y: (2.0 * x, y)).batch(3)
        iterator = v1.data.make_initializable_iterator(dataset)
        x, y = iterator.get_next()
        w = v1.get_variable("w", initializer=numbers(28, 3), use_resource=True)
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2, name="loss")
        v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        session.run(tf.group(v1.global_variables_initializer(), iterator.initializer, name="begin"))
        v1.train.Saver().save(session, str(folder / "model.ckpt"))
        feeds = {x: numbers(29, 3, 3), y: numbers(30, 3)}
        run_1(folder, session, loss, feeds, [loss], open="model.ckpt.meta")


@case
def tf1_special(folder):
    """Bessel, incomplete gamma and beta functions, and a sparse matrix times a dense one."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [4], "x")
        a = v1.get_variable("a", initializer=np.float32([0.7, 2.0, 5.5, 30.0]), use_resource=True)
        kinds = "I0 I1 I0e I1e J0 J1 K0 K1 K0e K1e".split()
        made = [getattr(tf.raw_ops, f"Bessel{kind}")(x=x * a[0]) for kind in kinds]
        share = tf.sigmoid(x)
        made += [
            tf.math.igamma(a, 3.0 * x),
            tf.math.igammac(a, x),
            tf.math.betainc(a, 2.0 * a, share),
        ]
        places = np.array([[0, 1], [2, 0], [2, 3], [1, 2]], np.int64)
        sparse = tf.SparseTensor(places, a * x, [3, 4])
        w = v1.get_variable("w", initializer=numbers(24, 4, 2), use_resource=True)
        made.append(tf.reshape(tf.sparse.sparse_dense_matmul(sparse, w), [-1])[:4])
        turned = tf.sparse.sparse_dense_matmul(
            sparse, tf.transpose(w)[:, :3], adjoint_a=True, adjoint_b=True
        )
        made.append(tf.reshape(turned, [-1])[:4])
        out = tf.stack(made, name="out")
        loss = tf.reduce_sum(out * numbers(25, len(made), 4), name="loss")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(folder / "model.ckpt"))
        feeds = {x: np.float32([0.3, 1.1, 2.4, 9.0])}
        run_1(folder, session, loss, feeds, [out, loss], open="model.ckpt.meta")


@case
def tf1_own_gradient(folder):
    """A function whose gradient is another one, in the library: one output is read, one is not."""
    float32 = tf.float32

    @function.Defun(float32, float32, float32, float32)
    def back(x, y, of_product, of_difference):
        return 2.0 * of_product * y + of_difference, of_product * x

    @function.Defun(float32, float32, grad_func=back)
    def forward(x, y):
        return x * y, x - y

    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2, 3], "x")
        w = v1.get_variable("w", initializer=numbers(37, 3, 3), use_resource=True)
        first, second = forward(x @ w, x)
        third, _ = forward(second, w[:2])
        loss = tf.reduce_sum(first * third, name="loss")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(folder / "model.ckpt"))
        run_1(folder, session, loss, {x: numbers(38, 2, 3)}, [loss], open="model.ckpt.meta")


# -- TensorFlow 2 ----------------------------------------------------------------------------------


def run_2(folder, path, feeds, signature="serving_default", output=None, function=None):
    """What a signature gives, and gradients of its sum: of the loaded SavedModel, or of what was
    saved, where TensorFlow cannot differentiate what it has loaded."""
    loaded = tf.saved_model.load(str(path))
    function = function or loaded.signatures[signature]
    variables = [v for v in function.variables if v.trainable]
    with tf.GradientTape() as tape:
        tape.watch(variables)
        given = function(**{k: tf.constant(v) for k, v in feeds.items()})
        output = output or sorted(given)[0]
        total = tf.reduce_sum(given[output])
    grads = tape.gradient(total, variables)
    there = {v.name.split(":")[0]: g for v, g in zip(variables, grads) if g is not None}
    there = {k: tf.convert_to_tensor(g) for k, g in there.items()}
    facts(
        folder,
        output,
        feeds,
        dict(given.items()),
        there,
        open=path.name,
        signature=signature,
        trained=sorted(v.name.split(":")[0] for v in variables if v.trainable),
    )


@case
def tf2_cnn(folder):
    """A Keras CNN with batch normalisation and dropout, exported."""
    tf.keras.utils.set_random_seed(3)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((6, 6, 1)),
            layers.Conv2D(4, 3, activation="relu", padding="same"),
            layers.BatchNormalization(),
            layers.MaxPool2D(),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(3),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(numbers(10, 8, 6, 6, 1), np.arange(8) % 3, epochs=1, verbose=0)
    model.export(str(folder / "model"), verbose=False)
    run_2(folder, folder / "model", {name_of_input(folder / "model"): numbers(11, 4, 6, 6, 1)})


def name_of_input(path):
    function = tf.saved_model.load(str(path)).signatures["serving_default"]
    return next(iter(function.structured_input_signature[1]))


@case
def tf2_lstm(folder):
    """A Keras LSTM with an embedding, exported: a While with TensorLists."""
    tf.keras.utils.set_random_seed(4)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((5,), dtype="int32"),
            layers.Embedding(9, 4),
            layers.LSTM(3),
            layers.Dense(2),
        ]
    )
    model.export(str(folder / "model"), verbose=False)
    ids = np.array([[1, 2, 3, 4, 5], [8, 7, 0, 7, 8]], np.int32)
    run_2(folder, folder / "model", {name_of_input(folder / "model"): ids})


@case
def tf2_sequences(folder):
    """A Keras GRU that gives all steps, one way and the other."""
    tf.keras.utils.set_random_seed(5)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((4, 3)),
            layers.Bidirectional(layers.GRU(2, return_sequences=True)),
            layers.Dense(2),
        ]
    )
    model.export(str(folder / "model"), verbose=False)
    run_2(folder, folder / "model", {name_of_input(folder / "model"): numbers(12, 2, 4, 3)})


class Control(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(0.5 * numbers(13, 3, 3), name="w")
        self.b = tf.Variable(numbers(14, 3), name="b")
        self.scale = tf.Variable(2.0, trainable=False, name="scale")

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 3], tf.float32, "x"),
            tf.TensorSpec([], tf.int32, "n"),
        ]
    )
    def step(self, x, n):
        rows = tf.TensorArray(tf.float32, n, element_shape=[None, 3])
        for i in tf.range(n):
            if tf.reduce_sum(x) > 0.0:
                x = tf.tanh(x @ self.w) + self.b
            else:
                x = self.inner(x) - self.b
            x = tf.switch_case(i, [lambda: x * 2.0, lambda: x + self.scale, lambda: x * x])
            rows = rows.write(i, x)
        return {"all": rows.stack(), "last": x}

    @tf.function
    def inner(self, x):
        return tf.sin(x @ self.w)


@case
def tf2_control(folder):
    """A module with a while, a cond, a case, and a function in a function."""
    module = Control()
    tf.saved_model.save(module, str(folder / "model"), signatures=module.step)
    feeds = {"x": numbers(15, 2, 3), "n": np.array(4, np.int32)}
    step = module.step.get_concrete_function()
    run_2(folder, folder / "model", feeds, output="all", function=step)


class Words(tf.Module):
    def __init__(self, path):
        super().__init__()
        self.asset = tf.saved_model.Asset(str(path))
        initializer = tf.lookup.TextFileInitializer(
            self.asset,
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        self.table = tf.lookup.StaticHashTable(initializer, 3)
        self.rows = tf.Variable(numbers(16, 4, 2), name="rows")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "words")])
    def __call__(self, words):
        return {"out": tf.reduce_sum(tf.gather(self.rows, self.table.lookup(words)) ** 3, 1)}


@case
def tf2_tables(folder):
    """A module with an asset that a lookup table is filled from."""
    vocabulary = folder / "vocabulary.txt"
    vocabulary.write_text("red\ngreen\nblue\n")
    module = Words(vocabulary)
    tf.saved_model.save(module, str(folder / "model"), signatures=module.__call__)
    run_2(folder, folder / "model", {"words": np.array([b"blue", b"red", b"pink"])})
    vocabulary.unlink()


class Arrays(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(0.5 * numbers(17, 3, 3), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def growing(self, x):
        """An array that grows, a loop in a loop, map_fn and scan."""
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3])
        for i in tf.range(tf.shape(x)[0]):
            y = x[i]
            for _ in tf.range(i):
                y = tf.tanh(tf.linalg.matvec(self.w, y))
            rows = rows.write(i, y)
        given = rows.stack()
        mapped = tf.map_fn(lambda row: tf.reduce_sum(row * self.w, 1), given)
        scanned = tf.scan(lambda a, row: 0.5 * a + row, mapped)
        mapped += 0.1 * tf.reduce_sum(rows.concat() ** 2)
        return {"out": mapped + scanned + tf.TensorArray(tf.float32, 2).unstack(given[:2]).read(1)}


@case
def tf2_arrays(folder):
    """A module with arrays that grow, loops in loops, map_fn and scan."""
    module = Arrays()
    tf.saved_model.save(module, str(folder / "model"), signatures=module.growing)
    function = module.growing.get_concrete_function()
    run_2(folder, folder / "model", {"x": numbers(18, 4, 3)}, function=function)


class Nested(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(0.5 * numbers(41, 3, 3), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def slopes(self, x):
        """Loops in loops in loops under a tape, which keeps lists of lists of lists; the inner ones
        go round more often each time, and at first not at all."""
        with tf.GradientTape() as tape:
            y = x
            for i in tf.range(3):
                for j in tf.range(i):
                    y = tf.tanh(y @ self.w) + x
                    for _ in tf.range(j):
                        y = tf.sin(y) * x
            loss = tf.reduce_sum(y)
        return {"loss": loss, "slope": tape.gradient(loss, self.w)}

    @tf.function(input_signature=[tf.TensorSpec([4, 3], tf.float32, "x")])
    def listed(self, x):
        """A list of lists, written and read by number."""
        raw = tf.raw_ops
        scalar = tf.constant([], tf.int32)
        outer = raw.TensorListReserve(
            element_shape=scalar, num_elements=3, element_dtype=tf.variant
        )
        for i in tf.range(3):
            inner = raw.TensorListReserve(
                element_shape=[3], num_elements=4, element_dtype=tf.float32
            )
            for j in tf.range(4):
                row = tf.tanh(tf.linalg.matvec(self.w, x[j])) * tf.cast(i + 1, tf.float32)
                inner = raw.TensorListSetItem(input_handle=inner, index=j, item=row)
            outer = raw.TensorListSetItem(input_handle=outer, index=i, item=inner)
        second = raw.TensorListGetItem(
            input_handle=outer, index=1, element_shape=scalar, element_dtype=tf.variant
        )
        rows = raw.TensorListStack(
            input_handle=second, element_shape=[3], element_dtype=tf.float32, num_elements=4
        )
        return {"out": rows * rows}

    @tf.function(input_signature=[tf.TensorSpec([4, 3], tf.float32, "x")])
    def plain(self, x):
        """What `listed` computes; TensorFlow has no gradient of that."""
        return {"out": 4.0 * tf.tanh(x @ tf.transpose(self.w)) ** 2}


@case
def tf2_nested(folder):
    """Gradients of loops in loops in loops, in the graph: lists of lists of lists."""
    module = Nested()
    tf.saved_model.save(module, str(folder / "model"), signatures=module.slopes)
    step = module.slopes.get_concrete_function()
    run_2(folder, folder / "model", {"x": numbers(42, 2, 3)}, output="loss", function=step)


@case
def tf2_listed(folder):
    """A list of lists that is written and read by number."""
    module = Nested()
    tf.saved_model.save(module, str(folder / "model"), signatures=module.listed)
    plain = module.plain.get_concrete_function()
    run_2(folder, folder / "model", {"x": numbers(43, 4, 3)}, output="out", function=plain)


class Tape(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(0.5 * numbers(19, 3, 3), name="w")

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, "x")])
    def step(self, x):
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(3):
                y = tf.tanh(y @ self.w)
                if tf.reduce_sum(y) > 0.0:
                    y = y * y
            loss = tf.reduce_sum(y)
        return {"loss": loss, "slope": tape.gradient(loss, self.w)}


class Functions(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(numbers(34, 3, 3), name="w")
        self.fixed = tf.constant(numbers(35, 3))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def encode(self, x):
        return tf.tanh(x @ self.w) + self.fixed

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "h")])
    def decode(self, h):
        return self.encode(h) @ self.w


@case
def tf2_functions(folder):
    """A module with several functions, saved without signatures."""
    module = Functions()
    tf.saved_model.save(module, str(folder / "model"))
    x = numbers(36, 2, 3)
    with tf.GradientTape() as tape:
        given = module.encode(tf.constant(x))
        total = tf.reduce_sum(given)
    feeds = {"encode_x:0": x, "decode_h:0": x}
    values = {"encode:0": given, "decode:0": module.decode(tf.constant(x))}
    facts(folder, "encode:0", feeds, values, {"w": tape.gradient(total, module.w)},
          open="model", trained=["w"])  # fmt: skip


class OwnGradients(tf.Module):
    """Rules of its own that take what the forward pass has computed, in it and in a loop, and a
    variable that the forward pass reads, too."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(0.5 * numbers(39, 3, 3), name="w")
        self.scale = tf.Variable(1.5, name="scale")

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def step(self, x):
        h, factor = x @ self.w, tf.sin(tf.reduce_sum(x))

        @tf.custom_gradient
        def bent(z, left_out):
            y = tf.tanh(z) + 0.0 * left_out
            return y, lambda dy: (tf.clip_by_value(dy, -0.2, 0.3) * y, None)

        @tf.custom_gradient
        def scaled(z):
            def back(dy, variables=None):
                return dy * factor * self.scale, [tf.reduce_sum(dy) * 7.0 for _ in variables]

            return z * self.scale, back

        for _ in tf.range(3):
            h = bent(h, x) * 2.0 + tf.nn.silu(h)
        return {"out": scaled(h) * self.scale}


@case
def tf2_own_gradients(folder):
    """A module with custom gradients, saved with the functions that they are."""
    module = OwnGradients()
    tf.saved_model.save(module, str(folder / "model"), signatures=module.step)
    step = module.step.get_concrete_function()
    run_2(folder, folder / "model", {"x": numbers(40, 2, 3)}, output="out", function=step)


@case
def tf2_tape(folder):
    """A module whose function computes gradients of a loop and a cond itself."""
    module = Tape()
    tf.saved_model.save(module, str(folder / "model"), signatures=module.step)
    run_2(folder, folder / "model", {"x": numbers(20, 2, 3)}, output="loss")


@case
def tf1_control_2(folder):
    """A Saver's graph with the loops and conds of TensorFlow 2, and their gradients in it."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.enable_control_flow_v2()
        x = v1.placeholder(tf.float32, [2, 3], "x")
        w = v1.get_variable("w", initializer=0.3 * numbers(22, 3, 3), use_resource=True)
        _, h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h @ w)), [0, x])
        y = tf.cond(tf.reduce_sum(h) > 0, lambda: h * 2.0, lambda: tf.sin(h))
        loss = tf.reduce_sum(y, name="loss")
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(folder / "model.ckpt"))
        assert train is not None
        run_1(folder, session, loss, {x: numbers(23, 2, 3)}, [loss], open="model.ckpt.meta")
        v1.disable_control_flow_v2()


def main(names):
    """Record these cases, or all; what the file has of others stays."""
    kept = {}
    if names:
        with zipfile.ZipFile(FILE) as z:
            kept = {n: z.read(n) for n in z.namelist() if n.partition("/")[0] not in names}
    with tempfile.TemporaryDirectory() as made:
        for name in names or CASES:
            folder = Path(made) / name
            folder.mkdir()
            CASES[name](folder)
            print(name, sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()))
        for path in Path(made).rglob("*"):
            if path.is_file() and path.name not in ("checkpoint",):
                kept[str(path.relative_to(made))] = path.read_bytes()
    with zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, data in sorted(kept.items()):
            about = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            about.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(about, data)


if __name__ == "__main__":
    main(sys.argv[1:])
