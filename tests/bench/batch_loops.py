"""Training loops as one writes them by hand in NumPy: another batch of the rows in each step.

The rows are brought into their form (scaled, one-hot, float32) once, before the first step; each
epoch has an order of its own; a batch is gathered into memory that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.bench.adam import Adam, Flat, scalar
from tests.bench.aligned import aligned, empty
from tests.bench.workloads import w4

Arrays = Mapping[str, np.ndarray]
Order = Callable[[int], np.ndarray]  # of an epoch's rows
Step = Callable[[], float]  # makes one; gives its loss


@dataclass(frozen=True)
class Rows:
    """x: float32 [n, …]; labels: float32 [n, classes]; batch: rows of a step."""

    x: np.ndarray
    labels: np.ndarray
    batch: int
    order: Order

    def room(self) -> tuple[np.ndarray, np.ndarray]:
        """Where batches go."""
        rows = ((self.batch, *a.shape[1:]) for a in (self.x, self.labels))
        x, labels = map(empty, rows)
        return x, labels

    def feeding(self, x: np.ndarray, labels: np.ndarray) -> Callable[[], None]:
        """Puts the next batch there; a shorter one at the end of an epoch is left out."""
        places = self._places()

        def feed() -> None:
            rows = next(places)
            np.take(self.x, rows, 0, x, "clip")
            np.take(self.labels, rows, 0, labels, "clip")

        return feed

    def _places(self) -> Iterator[np.ndarray]:
        epoch = 0
        while True:
            order = self.order(epoch)
            for start in range(0, len(order) - self.batch + 1, self.batch):
                yield order[start : start + self.batch]
            epoch += 1


class CrossEntropy:
    """The mean of softmax cross-entropies; `gradient`, of the logits, lies over `labels`' room."""

    def __init__(self, rows: int, classes: int) -> None:
        self.gradient, self._terms = empty((rows, classes)), empty((rows, classes))
        self._top, self._total, self._log = (empty((rows, 1)) for _ in range(3))
        self._loss, self._share = empty(()), scalar(1 / rows)

    def __call__(self, z: np.ndarray, labels: np.ndarray) -> float:
        """The loss of logits z, which are shifted."""
        p, t, top, total = self.gradient, self._terms, self._top, self._total
        np.maximum.reduce(z, 1, None, top, True)
        np.subtract(z, top, z)
        np.exp(z, p)
        np.add.reduce(p, 1, None, total, True)
        np.log(total, self._log)
        np.subtract(self._log, z, t)
        np.multiply(t, labels, t)
        np.add.reduce(t, (0, 1), None, self._loss)
        np.multiply(self._loss, self._share, self._loss)
        np.divide(p, total, p)
        np.subtract(p, labels, p)
        np.multiply(p, self._share, p)
        return float(self._loss)


def tutorial(rows: Rows, start: Arrays, rate: float) -> Step:
    """(x + c) (c + k) as logits; Adam."""
    x, labels = rows.room()
    feed = rows.feeding(x, labels)
    values, grads = Flat(start), Flat(start)
    c, k = values.views.values()
    dc, dk = grads.views.values()
    e = empty((2,))
    d, a, t = (empty(x.shape) for _ in range(3))
    judge, adam = CrossEntropy(*x.shape), Adam(values.vector, grads.vector, rate)

    def step() -> float:
        feed()
        np.add(x, c, d)
        np.add(c, k, e)
        np.multiply(d, e, a)
        loss = judge(a, labels)
        np.multiply(judge.gradient, d, t)
        np.add.reduce(t, 0, None, dk)
        np.multiply(judge.gradient, e, t)
        np.add.reduce(t, 0, None, dc)
        np.add(dc, dk, dc)
        adam.step()
        return loss

    return step


def softmax_regression(rows: Rows, start: Arrays, rate: float, share_right: bool = False) -> Step:
    """One matrix and a bias; gradient descent. share_right: whether that is looked at, too."""
    x, labels = rows.room()
    feed = rows.feeding(x, labels)
    w, b = map(aligned, start.values())
    z, dw, db, fall = empty(labels.shape), empty(w.shape), empty(b.shape), scalar(rate)
    judge = CrossEntropy(*labels.shape)

    def step() -> float:
        feed()
        np.matmul(x, w, z)
        np.add(z, b, z)
        loss = judge(z, labels)
        if share_right:
            _share_right(z, labels)
        np.matmul(x.T, judge.gradient, dw)
        np.add.reduce(judge.gradient, 0, None, db)
        np.multiply(dw, fall, dw)
        np.subtract(w, dw, w)
        np.multiply(db, fall, db)
        np.subtract(b, db, b)
        return loss

    return step


def digits(rows: Rows, start: Arrays, rate: float) -> Step:
    """As the example has it, which computes how many are right."""
    return softmax_regression(rows, start, rate, share_right=True)


def _share_right(z: np.ndarray, labels: np.ndarray) -> float:
    return float((z.argmax(1) == labels.argmax(1)).mean())


def perceptron(rows: Rows, start: Arrays, rate: float) -> Step:
    """W4's, by the loop that it is held against."""
    x, labels = rows.room()
    feed = rows.feeding(x, labels)
    program = w4.raw(rate, (x, labels))

    def step() -> float:
        feed()
        program.step()
        return program.numbers()["loss"]

    return step


def convolutional(rows: Rows, start: Arrays, rate: float) -> Step:
    """Two convolutions, each with bias, relu and pooling; a dense layer; Adam."""
    x, labels = rows.room()
    feed = rows.feeding(x, labels)
    values, grads = Flat(start), Flat(start)
    k1, c1, k2, c2, w, b = values.views.values()
    dk1, dc1, dk2, dc2, dw, db = grads.views.values()
    judge, adam = CrossEntropy(*labels.shape), Adam(values.vector, grads.vector, rate)

    def step() -> float:
        feed()
        columns1, relu1, pool1 = _layer(x, k1, c1)
        columns2, relu2, pool2 = _layer(pool1, k2, c2)
        flat = pool2.reshape(len(x), -1)
        logits = flat @ w + b
        loss = judge(logits, labels)
        _share_right(logits, labels)
        np.matmul(flat.T, judge.gradient, dw)
        np.add.reduce(judge.gradient, 0, None, db)
        back = (judge.gradient @ w.T).reshape(pool2.shape)
        back = _layer_gradients(back, columns2, relu2, pool2, dk2, dc2)
        back = _image_gradient(back, k2)
        _layer_gradients(back, columns1, relu1, pool1, dk1, dc1)
        adam.step()
        return loss

    return step


def _layer(
    x: np.ndarray, kernel: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Its windows as rows, what relu gives, and the largest of every 2 by 2."""
    windows = sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), (1, 2))
    columns = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, 9 * x.shape[3])
    found = columns @ kernel.reshape(-1, len(bias))
    found += bias
    np.maximum(found, np.float32(0), out=found)
    relu = found.reshape(*x.shape[:3], len(bias))
    return columns, relu, _halves(relu).max(axis=(2, 4))


def _halves(x: np.ndarray) -> np.ndarray:
    n, height, width, channels = x.shape
    return x.reshape(n, height // 2, 2, width // 2, 2, channels)


def _layer_gradients(
    back: np.ndarray,
    columns: np.ndarray,
    relu: np.ndarray,
    pool: np.ndarray,
    d_kernel: np.ndarray,
    d_bias: np.ndarray,
) -> np.ndarray:
    """Fills the last two; the gradient of the convolution."""
    parts = _halves(relu)
    largest = (parts == pool[:, :, None, :, None, :]) & (parts > 0)
    rows = (largest * back[:, :, None, :, None, :]).reshape(-1, relu.shape[3])
    np.matmul(columns.T, rows, d_kernel.reshape(-1, relu.shape[3]))
    np.add.reduce(rows, 0, None, d_bias)
    return rows.reshape(relu.shape)


def _image_gradient(back: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    n, height, width, filters = back.shape
    windows = back.reshape(-1, filters) @ kernel.reshape(-1, filters).T
    windows = windows.reshape(n, height, width, 3, 3, -1)
    padded = np.zeros((n, height + 2, width + 2, windows.shape[-1]), np.float32)
    for row in range(3):
        for column in range(3):
            padded[:, row : row + height, column : column + width] += windows[:, :, :, row, column]
    return padded[:, 1:-1, 1:-1]
