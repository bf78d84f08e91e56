/* Rows of `ufunc.reduce`: NumPy's iterator set up as NumPy sets it up, so that what is added to what,
   and in which order, is the same. The walk follows `PyUFunc_ReduceWrapper` and `reduce_loop` in
   NumPy's reduction.c and ufunc_object.c. */
#include "row.h"
#include <string.h>

typedef struct {
    NpyIter *iterator; /* NULL: the row says which calls there are */
    npy_intp results, itemsize;
    int begins_at_zero; /* or with the first element */
    char *first, *out;
    int axes; /* of the input, those that stay */
    struct {
        npy_intp size, stride;
    } axis[];
} Reduction;

/* Marks the axes, an int or a tuple of them. */
static int mark_axes(PyObject *axes, int rank, char *reduced) {
    memset(reduced, 0, NPY_MAXDIMS);
    int several = PyTuple_Check(axes);
    Py_ssize_t count = several ? PyTuple_Size(axes) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *axis = several ? PyTuple_GetItem(axes, i) : axes;
        long number = PyLong_CheckExact(axis) ? PyLong_AsLong(axis) : rank;
        number += number < 0 ? rank : 0;
        if (PyErr_Occurred() || number < 0 || number >= rank || reduced[number]) {
            PyErr_Clear();
            return 0;
        }
        reduced[number] = 1;
    }
    return count > 0;
}

/* The element type that is asked for has to be the input's; without one NumPy takes it but for small
   integers, which it adds as large ones. */
static int keeps_type(PyUFuncObject *ufunc, PyArrayObject *x, PyObject *type) {
    if (PyArray_DescrCheck(type)) {
        return ((PyArray_Descr *)type)->type_num == PyArray_TYPE(x);
    }
    PyObject *function = (PyObject *)ufunc;
    return type == Py_None && (function != known.add || !PyTypeNum_ISINTEGER(PyArray_TYPE(x)));
}

/* Sums begin at zero, maxima and minima with what comes first; the rest is left to NumPy. */
static int is_known(PyUFuncObject *ufunc, PyArrayObject *x) {
    PyObject *function = (PyObject *)ufunc;
    return function == known.maximum || function == known.minimum
           || (function == known.add && !PyArray_ISBOOL(x));
}

static NpyIter *make_iterator(PyArrayObject *out, PyArrayObject *x, char const *reduced, int keeps) {
    PyArrayObject *operands[2] = {out, x};
    PyArray_Descr *types[2] = {PyArray_DESCR(out), PyArray_DESCR(x)};
    npy_uint32 flags[2] = {NPY_ITER_READWRITE | NPY_ITER_ALIGNED | NPY_ITER_NO_SUBTYPE,
                           NPY_ITER_READONLY | NPY_ITER_ALIGNED | NPY_ITER_NO_BROADCAST};
    int result_axes[NPY_MAXDIMS], *axes[2] = {result_axes, NULL}, next = 0;
    for (int axis = 0; axis < PyArray_NDIM(x); axis++) {
        result_axes[axis] = reduced[axis] && !keeps ? -1 : next++;
    }
    if (next != PyArray_NDIM(out)) {
        return NULL;
    }
    npy_uint32 how = NPY_ITER_REDUCE_OK | NPY_ITER_BUFFERED | NPY_ITER_EXTERNAL_LOOP
                     | NPY_ITER_GROWINNER | NPY_ITER_ZEROSIZE_OK | NPY_ITER_REFS_OK
                     | NPY_ITER_DELAY_BUFALLOC | NPY_ITER_DONT_NEGATE_STRIDES
                     | NPY_ITER_COPY_IF_OVERLAP;
    return NpyIter_AdvancedNew(2, operands, how, NPY_KEEPORDER, NPY_UNSAFE_CASTING, flags, types,
                               PyArray_NDIM(x), axes, NULL, NPY_BUFSIZE);
}

/* Where the elements are that maxima and minima begin with: the first along every reduced axis. */
static void find_first(Reduction *work, PyArrayObject *x, char const *reduced) {
    work->first = PyArray_BYTES(x);
    work->axes = 0;
    for (int axis = 0; axis < PyArray_NDIM(x); axis++) {
        if (!reduced[axis]) {
            work->axis[work->axes].size = PyArray_DIM(x, axis);
            work->axis[work->axes++].stride = PyArray_STRIDE(x, axis);
        }
    }
}

/* Goes through the axes that stay as an odometer does, the last one first. */
static void write_first(Reduction const *work) {
    npy_intp index[NPY_MAXDIMS] = {0};
    char const *from = work->first;
    char *to = work->out;
    for (npy_intp i = 0; i < work->results; i++, to += work->itemsize) {
        memcpy(to, from, (size_t)work->itemsize);
        for (int axis = work->axes - 1; axis >= 0; axis--) {
            from += work->axis[axis].stride;
            if (++index[axis] < work->axis[axis].size) {
                break;
            }
            from -= work->axis[axis].size * work->axis[axis].stride;
            index[axis] = 0;
        }
    }
}

/* What is in the result already, as its first element, is left out. */
static int walk(Row *row, Reduction const *work, NpyIter *iterator, Visit visit) {
    NpyIter_IterNextFunc *next = NpyIter_GetIterNext(iterator, NULL);
    char **at = NpyIter_GetDataPtrArray(iterator);
    npy_intp *strides = NpyIter_GetInnerStrideArray(iterator);
    npy_intp *inner = NpyIter_GetInnerLoopSizePtr(iterator);
    npy_intp first = work->begins_at_zero ? 0 : work->results;
    int goes_on = 1;
    if (restart(iterator) < 0) {
        return -1;
    }
    do {
        npy_intp count = *inner, skipped = 0;
        if (first > 0 && NpyIter_IsFirstVisit(iterator, 0)) {
            skipped = strides[0] == 0 ? 1 : count;
            first -= skipped;
            count -= skipped;
        }
        if (count > 0) {
            char *places[3] = {at[0], at[1] + skipped * strides[1], at[0]};
            npy_intp steps[3] = {strides[0], strides[1], strides[0]};
            goes_on = visit(row, places, steps, count);
        }
    } while (goes_on && next(iterator));
    if (!goes_on) {
        row->times = 0;
    }
    return 0;
}

static void describe(Row *row, PyArrayObject *out, PyArrayObject *x, char const *reduced) {
    Reduction *work = row->more;
    work->results = PyArray_SIZE(out);
    work->itemsize = PyArray_ITEMSIZE(out);
    work->out = PyArray_BYTES(out);
    find_first(work, x, reduced);
    row->kind = REDUCTION;
    row->arrays = 3;
    row->size = PyArray_SIZE(x);
}

/* The iterator; NULL, and no error, where it would go over copies. */
static NpyIter *iterate(PyArrayObject *out, PyArrayObject *x, char const *reduced, int keeps) {
    NpyIter *iterator = make_iterator(out, x, reduced, keeps);
    int fits = iterator != NULL && NpyIter_GetOperandArray(iterator)[0] == out
               && NpyIter_GetOperandArray(iterator)[1] == x && !NpyIter_IterationNeedsAPI(iterator)
               && !NpyIter_RequiresBuffering(iterator);
    PyErr_Clear();
    if (!fits && iterator != NULL) {
        NpyIter_Deallocate(iterator);
    }
    return fits ? iterator : NULL;
}

/* One iterator says which calls there are; another, which is still to begin, makes them where they
   are not evenly apart. */
static Outcome bind_calls(Row *row, PyArrayObject *out, PyArrayObject *x, char const *reduced,
                          int keeps) {
    Reduction *work = row->more;
    PyArrayObject *arrays[3] = {out, x, out};
    NpyIter *iterator = iterate(out, x, reduced, keeps);
    if (iterator == NULL) {
        return UNFIT;
    }
    describe(row, out, x, reduced);
    int walked = walk(row, work, iterator, note_call);
    NpyIter_Deallocate(iterator);
    if (walked == 0 && is_noted(row, arrays)) {
        return BOUND;
    }
    work->iterator = iterate(out, x, reduced, keeps);
    return work->iterator == NULL ? UNFIT : BOUND;
}

/* arguments: array, axis, dtype, out and, if there is a fifth, keepdims. */
Outcome bind_reduction(Row *row, PyUFuncObject *ufunc, PyObject *arguments) {
    Py_ssize_t given = PyTuple_Size(arguments);
    if (given < 4 || given > 5 || !is_plain(PyTuple_GetItem(arguments, 0))
        || !is_plain(PyTuple_GetItem(arguments, 3))) {
        return UNFIT;
    }
    PyArrayObject *x = (PyArrayObject *)PyTuple_GetItem(arguments, 0);
    PyArrayObject *out = (PyArrayObject *)PyTuple_GetItem(arguments, 3);
    PyArrayObject *arrays[3] = {x, x, out};
    PyObject *keepdims = given == 5 ? PyTuple_GetItem(arguments, 4) : Py_False;
    char reduced[NPY_MAXDIMS];
    if (ufunc->nin != 2 || ufunc->nout != 1 || ufunc->core_enabled || !PyBool_Check(keepdims)
        || !is_known(ufunc, x) || PyArray_SIZE(x) == 0 || !can_be_result(out) || !is_contiguous(out)
        || !keeps_type(ufunc, x, PyTuple_GetItem(arguments, 2))
        || !mark_axes(PyTuple_GetItem(arguments, 1), PyArray_NDIM(x), reduced)
        || !find_loop(ufunc, arrays, row)) {
        return UNFIT;
    }
    size_t axes = (size_t)PyArray_NDIM(x) * sizeof(((Reduction *)NULL)->axis[0]);
    Reduction *work = PyMem_Calloc(1, sizeof(Reduction) + axes);
    if (work == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    row->more = work;
    work->begins_at_zero = (PyObject *)ufunc == known.add;
    Outcome outcome = bind_calls(row, out, x, reduced, keepdims == Py_True);
    if (outcome != BOUND) {
        PyErr_Clear();
        release_reduction(row);
    }
    return outcome;
}

int run_reduction(Row *row) {
    Reduction const *work = row->more;
    if (work->begins_at_zero) { /* which is no bit set, in every type */
        memset(work->out, 0, (size_t)(work->results * work->itemsize));
    } else {
        write_first(work);
    }
    if (work->iterator != NULL) {
        return walk(row, work, work->iterator, make_call);
    }
    run_loop(row);
    return 0;
}

void release_reduction(Row *row) {
    Reduction *work = row->more;
    if (work != NULL && work->iterator != NULL) {
        NpyIter_Deallocate(work->iterator);
    }
    PyMem_Free(work);
    row->more = NULL;
}
