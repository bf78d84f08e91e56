/* Rows added up into few, one after another as they come, by NumPy's own loop. */
#include "row.h"

/* The number of the row that is added to; -1 where there is none. */
static npy_intp place_at(PyArrayObject *places, npy_intp i, npy_intp count) {
    char const *at = PyArray_BYTES(places) + i * PyArray_ITEMSIZE(places);
    npy_int64 place = PyArray_ITEMSIZE(places) == 4 ? *(npy_int32 const *)at : *(npy_int64 const *)at;
    return 0 <= place && place < count ? (npy_intp)place : -1;
}

/* Whether all are numbers of rows. */
static int are_within(PyArrayObject *places, npy_intp count) {
    for (npy_intp i = 0; i < PyArray_SIZE(places); i++) {
        if (place_at(places, i, count) < 0) {
            return 0;
        }
    }
    return 1;
}

static int fit(PyArrayObject *total, PyArrayObject *values, PyArrayObject *places, Row *row) {
    PyArrayObject *arrays[3] = {total, values, total};
    int type = PyArray_TYPE(places);
    return PyArray_NDIM(total) == 2 && PyArray_NDIM(values) == 2 && PyArray_NDIM(places) == 1
           && PyTypeNum_ISSIGNED(type) && !PyTypeNum_ISBOOL(PyArray_TYPE(total))
           && (PyArray_ITEMSIZE(places) == 4 || PyArray_ITEMSIZE(places) == 8)
           && PyArray_DIM(values, 0) == PyArray_SIZE(places)
           && PyArray_DIM(values, 1) == PyArray_DIM(total, 1) && PyArray_ISWRITEABLE(total)
           && is_contiguous(total) && is_contiguous(values) && is_contiguous(places)
           && are_apart(total, values) && are_apart(total, places)
           && find_loop((PyUFuncObject *)known.add, arrays, row)
           && are_within(places, PyArray_DIM(total, 0));
}

static void add_each(PyArrayObject *total, PyArrayObject *values, PyArrayObject *places,
                     Row const *row) {
    npy_intp width = PyArray_DIM(total, 1), size = PyArray_ITEMSIZE(total);
    npy_intp strides[3] = {size, size, size};
    for (npy_intp i = 0; i < PyArray_SIZE(places) && width > 0; i++) {
        char *to = PyArray_BYTES(total) + place_at(places, i, PyArray_DIM(total, 0)) * width * size;
        char *at[3] = {to, PyArray_BYTES(values) + i * width * size, to}; /* loops may move them */
        npy_intp count = width;
        row->loop(at, &count, strides, row->data);
    }
}

/* add_rows(total, values, places): whether it was done. */
PyObject *add_rows(PyObject *module, PyObject *arguments) {
    PyObject *total, *values, *places;
    Row row = {0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO:add_rows", &total, &values, &places)) {
        return NULL;
    }
    if (!is_plain(total) || !is_plain(values) || !is_plain(places)
        || !fit((PyArrayObject *)total, (PyArrayObject *)values, (PyArrayObject *)places, &row)) {
        Py_RETURN_FALSE;
    }
    Py_BEGIN_ALLOW_THREADS
    add_each((PyArrayObject *)total, (PyArrayObject *)values, (PyArrayObject *)places, &row);
    Py_END_ALLOW_THREADS
    Py_RETURN_TRUE;
}
