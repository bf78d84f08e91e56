/* Rows of `np.copyto` and `fill`: as bytes where nothing changes on the way, else by NumPy's own
   assignment. */
#include "row.h"
#include <string.h>

/* Whether every element of `x` is one of `out`, or all are its only one, and it can be read while
   `out` is written to. */
static int goes_along(PyArrayObject *x, PyArrayObject *out) {
    int fits = PyArray_NDIM(x) == 0 || (have_same_shape(x, out) && is_contiguous(x));
    return fits && (are_apart(x, out) || are_same(x, out));
}

/* copyto(out, x, casting, mask) */
static Outcome bind_choice(Row *row, PyArrayObject *out, PyArrayObject *x, PyArrayObject *mask) {
    if (!PyArray_ISBOOL(mask) || PyArray_TYPE(x) != PyArray_TYPE(out) || !is_contiguous(out)
        || !goes_along(x, out) || !goes_along(mask, out)) {
        return UNFIT;
    }
    PyArrayObject *arrays[3] = {x, mask, out};
    for (int i = 0; i < 3; i++) {
        row->at[i] = PyArray_BYTES(arrays[i]);
        int once = i < 2 && PyArray_NDIM(arrays[i]) == 0;
        row->strides[i] = once ? 0 : PyArray_ITEMSIZE(arrays[i]);
    }
    row->kind = CHOICE;
    return BOUND;
}

static Outcome bind_move(Row *row, PyArrayObject *out, PyArrayObject *x) {
    row->at[0] = PyArray_BYTES(x);
    row->at[1] = PyArray_BYTES(out);
    row->strides[1] = PyArray_NBYTES(out);
    row->kind = row->at[0] == row->at[1] ? NOTHING : MOVE;
    return BOUND;
}

/* Of fixed length, and without the interpreter's warnings: what is no number may be too large. */
static int is_exact(PyArrayObject *x, PyArrayObject *out) {
    int to = PyArray_TYPE(out);
    return PyArray_CanCastArrayTo(x, PyArray_DESCR(out), NPY_SAME_KIND_CASTING)
           && (PyArray_TYPE(x) == to || PyTypeNum_ISFLOAT(to) || PyTypeNum_ISCOMPLEX(to)
               || !PyTypeNum_ISFLOAT(PyArray_TYPE(x)));
}

/* arguments: out, x; or both, how to cast, and a mask. */
Outcome bind_copy(Row *row, PyObject *arguments) {
    Py_ssize_t given = PyTuple_Size(arguments);
    PyObject *last = given > 0 ? PyTuple_GetItem(arguments, given - 1) : NULL;
    if ((given != 2 && given != 4) || !is_plain(PyTuple_GetItem(arguments, 0))
        || !is_plain(PyTuple_GetItem(arguments, 1)) || !is_plain(last)) {
        PyErr_Clear();
        return UNFIT;
    }
    PyArrayObject *out = (PyArrayObject *)PyTuple_GetItem(arguments, 0);
    PyArrayObject *x = (PyArrayObject *)PyTuple_GetItem(arguments, 1);
    if (!can_be_result(out)) {
        return UNFIT;
    }
    row->size = PyArray_SIZE(out);
    if (given == 4) {
        return bind_choice(row, out, x, (PyArrayObject *)last);
    }
    int alike = PyArray_TYPE(x) == PyArray_TYPE(out) && have_same_shape(x, out);
    if (alike && is_contiguous(x) && is_contiguous(out)) {
        return bind_move(row, out, x);
    }
    if (!is_exact(x, out)) {
        return UNFIT;
    }
    row->at[0] = (char *)x; /* the call holds both */
    row->at[1] = (char *)out;
    row->kind = ASSIGNMENT;
    return BOUND;
}

/* arguments: the value. It is kept in `leaps`, as the array's type has it. */
Outcome bind_fill(Row *row, PyObject *array, PyObject *arguments) {
    PyArrayObject *out = (PyArrayObject *)array;
    if (PyTuple_Size(arguments) != 1 || !is_plain(array) || !can_be_result(out)
        || !is_contiguous(out)
        || PyArray_Pack(PyArray_DESCR(out), row->leaps, PyTuple_GetItem(arguments, 0)) < 0) {
        PyErr_Clear();
        return UNFIT;
    }
    row->at[0] = PyArray_BYTES(out);
    row->strides[0] = PyArray_ITEMSIZE(out);
    row->size = PyArray_SIZE(out);
    row->kind = FILL;
    return BOUND;
}

/* What is filled is copied on, as much again each time, up to what the first cache holds. */
void run_fill(Row const *row) {
    size_t step = (size_t)row->strides[0], total = (size_t)row->size * step;
    size_t most = step * (1 + (1 << 14) / step);
    for (size_t done = 0; done < total;) {
        size_t some = done == 0 ? step : done < most ? done : most;
        some = some < total - done ? some : total - done;
        memcpy(row->at[0] + done, done == 0 ? (char const *)row->leaps : row->at[0], some);
        done += some;
    }
}

#define CHOOSE(type)                                                                               \
    for (npy_intp i = 0; i < row->size; i++) {                                                    \
        if (mask[i * mask_step]) {                                                                 \
            ((type *)out)[i] = ((type const *)x)[i * step];                                        \
        }                                                                                          \
    }

void run_choice(Row const *row) {
    char const *x = row->at[0], *mask = row->at[1];
    char *out = row->at[2];
    npy_intp size = row->strides[2], step = row->strides[0] != 0, mask_step = row->strides[1];
    switch (size) {
    case 1: CHOOSE(npy_uint8) break;
    case 2: CHOOSE(npy_uint16) break;
    case 4: CHOOSE(npy_uint32) break;
    case 8: CHOOSE(npy_uint64) break;
    default:
        for (npy_intp i = 0; i < row->size; i++) {
            if (mask[i * mask_step]) {
                memcpy(out + i * size, x + i * step * size, (size_t)size);
            }
        }
    }
}

int run_assignment(Row const *row) {
    return PyArray_CopyInto((PyArrayObject *)row->at[1], (PyArrayObject *)row->at[0]);
}
