"""Of targets that were missed: why, and what was tried. Printed only where they still are."""

from __future__ import annotations

from collections.abc import Mapping

_RECORDED = (
    "Recorded variables and slots have a new version after every step and the old one beside it, "
    "so that a step of Adam reads and writes half as much again, in twice the memory; results are "
    "not made in place (71 calls in place of 54), and the matrices lose some of the cache to both. "
    "Nothing is copied from run to run: the two versions change places."
)
_AT_THE_LIMIT = (
    "The calls are those of the hand-written program, most of the time is in the same products, "
    "and the parameters are updated in blocks as there. From run to run it is between 1.00 and "
    "1.04."
)
_PRODUCTS = (
    "Products are 3.2 of the plan's 5.0 ms in NumPy's BLAS, and 2.8 in PyTorch's (125 to 138 and "
    "135 to 157 GFLOP/s, one thread, AVX-512). The plan takes as long as one by hand; "
    "of the rest most is Adam's, which reads four arrays of 2.7 MB and writes three."
)
_CONVOLVED = (
    "A convolution is patches of the images, which are copied together, and a product: 12,544 by "
    "800 by 64 and the like, at 92 GFLOP/s. PyTorch's oneDNN reads the images themselves; with the "
    "same library (`--kernels onednn`) a step takes 1.0 of PyTorch's."
)
_ON_TWO_CORES = (
    "Convolutions and pooling are shared by images, products by columns, Adam by blocks. Of 76 ms "
    "that one thread takes two would take 39 each, and take 46: Adam's 90 MB and the patches wait "
    "for memory. For each other they wait 3 ms, at 21 places. The rest is what lacks with one "
    "thread, too: PyTorch's oneDNN reads the images themselves and copies no patches."
)
_SMALL_CALLS = (
    "Twenty-four calls of NumPy, of half a microsecond each on this processor, and one microsecond "
    "to enter the plan and to leave it; where NumPy's calls took less beside PyTorch's the ratio "
    "to that was 0.056. With native tables, which are used wherever they are there, a step takes "
    "1.2 microseconds: 0.007 of PyTorch's time."
)
_UNROLLED = (
    "With AVX2 .62 to .68 from run to run; with AVX-512 PyTorch's BLAS makes the products at 155 "
    "GFLOP/s, NumPy's at 100. What is left are fifty products that wait for each other, and the "
    "gates between them. Taking tensors apart and joining them without a copy, sums of gradients "
    "in one product, and kernels as bound calls brought it from 1.07; batching the inputs' "
    "products gains half a percent only, for the sums then read what has left the cache."
)
_FED = (
    "What a step of `train` has besides its plan is some thirty microseconds of Python: the rows "
    "of the batch and their order, looking up the plan for their shapes, taking them into its "
    "memory, the loss's copy, whether it is finite, and what is shown; no part of it takes more "
    "than four. Native tables save that much elsewhere. It was three to four times a loop by "
    "hand: rows were scaled and made one-hot in each batch, and copied twice."
)
_DRAWN = (
    "A step of so small a network takes 50 microseconds, 3 % of which are one and a half; to copy "
    "the loss out of the plan, see that it is finite and put it down takes 6 to 8 (it took 18), "
    "whatever the network. Looking at many steps together would not stop at the one at which "
    "the loss is NaN."
)
_ROWS = (
    "Without native tables NumPy takes 0.4 ms to add 4,096 rows to 721 places: to find their "
    "order, copy them into it, loop over groups of places and put the sums where they belong; "
    "distinct indices take 0.07 ms. PyTorch takes 0.3 ms for all of it. `add.reduceat` gives "
    "other bits in twice the time, `numpy.add.at` takes ten times as long. With native tables "
    "rows are added in less than half of that, to the same bits."
)
_COMPILED_ROWS = (
    "With numba, two compiled loops do it in one pass over the rows, which is two thirds of the "
    "time; the rest is Python between three steps. SciPy's sparse product alone gives 0.5: it "
    "leaves finding distinct indices to NumPy."
)
_COMPILE = (
    "Three tenths are differentiating, a sixth each the plan, sharing memory and binding calls, "
    "and a quarter ten passes, each of which walks some 16,000 steps and asks first what is "
    "cheap. A tenth is Python's garbage collector, which goes through it all once. That was 6.3 "
    "s. Unlike a recorded plan, a fast one is made anew after an edit."
)
_GROWTH = (
    "At the limit: 1.9 to 2.3 from run to run. All passes are linear; twice the objects are "
    "farther apart in memory, and the garbage collector has more to look "
    "through once it may run again."
)
_TOGGLE = (
    "It was 4 s, and is at the limit on a busy machine: what is left is walking 27,000 operations "
    "and 21,000 steps once each to see that nearly all are what they were."
)
_TWO_PRODUCTS = (
    "Two thirds of the step are its two products, 100 by 784 by 10, in NumPy's BLAS. None of eight "
    "orientations and memory orders of the operands was faster; ten columns fill its kernels "
    "badly (eight take three quarters of the time). The rest are twenty calls on [100, 10], of "
    "which sums and broadcasting along ten elements take NumPy 2 to 4 microseconds each; with "
    "classes in the rows they take less, but putting them there and back takes as much. Means and "
    "sums as bound calls, the largest logit class by class, and numbers for constants of equal "
    "elements brought the step to three quarters of what it took."
)
_UPDATES = (
    "A recorded plan makes 18,333 calls, one for each value that can be looked at; the passes of "
    "the fast one leave 13,333, for a product and a sum that update a variable become one. So 1.4 "
    "is the limit of one call an operation; with native tables the recorded plan takes an eighth "
    "of the fast one without. What a run does for each variable beside its calls was a quarter "
    "of it, and is less than a tenth."
)
_IN_BLAS = (
    "Products of 32 by 128 by 512 and their gradients are more than half of the step: NumPy's BLAS "
    "makes them at 100 GFLOP/s, PyTorch's at 155 (one thread, AVX-512), whichever operand is "
    "transposed. That difference alone is 2.4 ms of PyTorch's step; the rest are 1,200 rows of "
    "4,096 numbers, of a microsecond or less each."
)
_IN_THE_CACHE = (
    "Twenty-two operations on four million numbers, in blocks of which 8 KiB at a time go through "
    "all that are next to each other: 8.3 ms of the 14.3 are NumPy's loops on what lies in the "
    "first cache, 4 are reading two arrays and writing two. XLA makes one loop of all, in "
    "registers, and is bound by memory alone: its time goes from 3.5 to 17 ms from process to "
    "process, and the ratio from 0.8 to 3.9. It was 19.4, with whole blocks of 65,536 in the "
    "second cache."
)

_KEPT = (
    "A run of training is 20 MiB of values, of which three quarters are variables and slots, "
    "before and after, and all of them are copied, "
    "past the caches where native tables are. The recorded plan itself takes 1.2 of the fast one. "
    "Runs are copied over those that are dropped: memory that was never used before takes "
    "several times as long. A run could leave out the values it started with, 7.6 MiB that the run "
    "before it has: they would have to lie side by side, and what a run ends with be kept as long "
    "as the next one."
)
_STOPPING = (
    "Three to seven microseconds in all on a run of 150: setting out, the breakpoint at the first "
    "step, and one note of what the run went past, whose hits are counted when somebody looks. "
    "Breakpoints that are far from enough hits halt no run; each of the ten took 5. Half of the "
    "run without was looking 32 times whether to pause, which runs that take less than 2 ms do "
    "not any more: with breakpoints it takes half of what it did."
)
_DRAG = (
    "The wires of the dragged node, smooth at full detail, and the shadow of its card, five "
    "translucent rectangles; all else is one kept picture. A kept picture of the shadow would "
    "look different where cards lie between pixels."
)
_OPENING = (
    "The first picture of a graph is made in one go: boxes, links, the way of a gradient, and, "
    "where the document has places, what lies in them. What layout finds places for is put "
    "together in another thread. Rows of the outline and the timeline are made when they are "
    "looked at."
)
_EDITING = (
    "Of the canvas only what an edit touched is made anew: types, the way of a gradient, links, "
    "routes, frames. What is left are copies of arrays and tuples of all boxes and links, and that "
    "the names of all operations are compared, in C, by each part that follows the graph. A node "
    "that comes or goes amid the others gives boxes other numbers, and then all is made anew."
)
_STEP = (
    "What is in view is painted anew, and the panels follow; only values that somebody looks at "
    "are fetched, and those that did not change stay what they are."
)

# Name of a row -> its explanation, a sentence or more.
NOTES: Mapping[str, str] = {
    "W4 multilayer perceptron: plan / hand-written NumPy": _AT_THE_LIMIT,
    "W4 multilayer perceptron: plan / PyTorch eager": _PRODUCTS,
    **{
        f"W1 tutorial net: plan / {peer}": _SMALL_CALLS
        for peer in ("hand-written NumPy", "PyTorch eager", "TF1 session")
    },
    "W5 convolutional net: plan / PyTorch eager": _CONVOLVED,
    "W5 convolutional net, all cores: plan / PyTorch eager": _ON_TWO_CORES,
    "W6 LSTM, unrolled: plan / PyTorch eager": _UNROLLED,
    "W3 softmax regression: plan / PyTorch eager": _TWO_PRODUCTS,
    "W3 softmax regression: plan / JAX jit": _TWO_PRODUCTS,
    "W8 embedding gradient: plan / PyTorch eager": _ROWS,
    "W8 embedding gradient: plan / PyTorch sparse coalesced": _ROWS,
    "W8 embedding gradient: plan + kernels / PyTorch sparse coalesced": _COMPILED_ROWS,
    "differentiate + compile 10,000 ops, fast plan": _COMPILE,
    "the same, 20,000 ops / 10,000 ops, fast plan": _GROWTH,
    "recompile after toggling a stop, 10,000 ops": _TOGGLE,
    "recompile after toggling an override, 10,000 ops": _TOGGLE,
    "W4: debugger, all values of all runs kept / plan": _KEPT,
    "W2: debugger with 10 breakpoints / without": _STOPPING,
    "canvas, 1,000 nodes: drag of a node with 10 wires, a frame": _DRAG,
    "canvas, 10,000 nodes: drag of a node with 10 wires, a frame": _DRAG,
    "canvas, 10,000 nodes: arrays and the first frame": _OPENING,
    "canvas, 1,000 nodes: the window is deaf at most, opening": _OPENING,
    "canvas, 10,000 nodes: the window is deaf at most, opening": _OPENING,
    "canvas, 10,000 nodes: the window is deaf at most, editing": _EDITING,
    "canvas, 10,000 nodes: a debugger's step, the window's part": _STEP,
    "W4 multilayer perceptron: recorded plan / plan": _RECORDED,
    "W3 softmax regression: plan + native tables / PyTorch eager": _TWO_PRODUCTS,
    "W3 softmax regression: plan + native tables / JAX jit": _TWO_PRODUCTS,
    "W6 LSTM, unrolled: plan + native tables / PyTorch eager": _IN_BLAS,
    "W6 LSTM, unrolled: plan + native tables / JAX jit": _IN_BLAS,
    "W7 memory-bound: plan + native tables / PyTorch eager": _IN_THE_CACHE,
    "W7 memory-bound: plan + native tables / JAX jit": _IN_THE_CACHE,
    "W12 training graph, 10,000 ops: recorded plan / plan": _UPDATES,
    **{
        f"{what}, no native tables: a step of `train` on batches / NumPy by hand": _FED
        for what in ("W1, on rows", "W3", "digits, softmax regression")
    },
    "digits, softmax regression: a step of which the panel draws the loss / one it is told "
    "nothing of": _DRAWN,
    "W1: a step of `train` / plan": (
        "A step adds 8 microseconds to a plan of 14: the loss is copied out, seen to be finite and "
        "put down, and the row of what is shown; with native tables the plan takes 1 and the step "
        "9."
    ),
    "W2: Session.run, fed / plan": (
        "What a run adds to its plan is 5 microseconds of W1, and 15 to 30 of W2, probably because "
        "1,700 calls lie between two looks at a feed. It was 1.18."
    ),
    "while loop, recorded: an iteration / NumPy by hand": (
        "Whole iterations are kept for who looks back, and copied for that one by one, so that the "
        "calls of an iteration are two runs of calls and not one. It was 19.4."
    ),
    "canvas, 10,000 nodes: memory of graph and canvas, MiB": (
        "Two scenes: the one that is shown, and the one before it, which is kept for undo. "
        "With one it is 42 as opened, 47 after moving and zooming, and 55 after the drag, whose "
        "frames have places of their own. It was 54 when no scene was kept."
    ),
    "W2 1,000 elementwise ops: recorded plan / plan": (
        "The calls are the same ones, one after the other; but every value has memory and an array "
        "of its own, which together no longer fit in the second cache. Generated code instead of "
        "bound calls takes half of that back, and cannot be run from step to step."
    ),
}
