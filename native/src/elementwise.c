/* Rows of elementwise functions: the inner loop and the strides that NumPy's own call would use. */
#include "row.h"

/* The inner loop for inputs of these types, if its result has the type that is last. NumPy takes the
   first that fits, too. */
static int find_loop_of(PyUFuncObject *ufunc, int const *types, Row *row) {
    for (int i = 0; i < ufunc->ntypes; i++) {
        char const *found = ufunc->types + (Py_ssize_t)i * ufunc->nargs;
        int fits = 1;
        for (int j = 0; j < ufunc->nin; j++) {
            fits = fits && found[j] == types[j];
        }
        if (fits) {
            row->loop = ufunc->functions[i];
            row->data = ufunc->data == NULL ? NULL : (void *)ufunc->data[i];
            return row->loop != NULL && found[ufunc->nin] == types[ufunc->nin];
        }
    }
    return 0;
}

/* That for arrays of exactly these types. */
int find_loop(PyUFuncObject *ufunc, PyArrayObject *const *arrays, Row *row) {
    int types[MOST_ARRAYS];
    for (int i = 0; i < ufunc->nargs; i++) {
        types[i] = PyArray_TYPE(arrays[i]);
    }
    return find_loop_of(ufunc, types, row);
}

/* Whether this is a product of numbers and flags, which NumPy makes numbers first. `types` becomes
   what the loop takes. */
static int find_masking_loop(PyUFuncObject *ufunc, PyArrayObject *const *arrays, Row *row,
                             int *types) {
    if ((PyObject *)ufunc != known.multiply
        || PyArray_ISBOOL(arrays[0]) == PyArray_ISBOOL(arrays[1])) {
        return 0;
    }
    int number = PyArray_TYPE(arrays[PyArray_ISBOOL(arrays[0]) ? 1 : 0]);
    types[0] = types[1] = types[2] = number;
    return PyArray_TYPE(arrays[2]) == number && find_loop_of(ufunc, types, row);
}

/* Whether `ufunc` may be called by its loops alone. Integers to negative powers are the one loop
   that raises errors by itself. */
static int is_callable(PyUFuncObject *ufunc, PyArrayObject *const *arrays) {
    if (ufunc->nout != 1 || ufunc->nargs > MOST_ARRAYS || ufunc->core_enabled || ufunc->iter_flags) {
        return 0;
    }
    for (int i = 0; ufunc->op_flags != NULL && i < ufunc->nargs; i++) {
        if (ufunc->op_flags[i] != 0) {
            return 0;
        }
    }
    return (PyObject *)ufunc != known.power || !PyTypeNum_ISINTEGER(PyArray_TYPE(arrays[0]));
}

/* Where an input and the result share memory otherwise than element by element, NumPy copies. */
static int may_run_in_place(PyArrayObject *const *arrays, int inputs) {
    PyArrayObject *out = arrays[inputs];
    for (int i = 0; i < inputs; i++) {
        if (!are_apart(arrays[i], out) && !are_same(arrays[i], out)) {
            return 0;
        }
    }
    return 1;
}

/* The strides of one call of the loop for everything, by the rules of NumPy's own shortcut: all of
   one shape but inputs of rank 0, in rows without gaps, or of rank 1. */
static int find_strides(PyArrayObject *const *arrays, int inputs, npy_intp *strides) {
    PyArrayObject *shaped = NULL;
    int order = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS;
    for (int i = 0; i <= inputs; i++) {
        PyArrayObject *array = arrays[i];
        if (PyArray_NDIM(array) == 0 && i < inputs) {
            strides[i] = 0;
            continue;
        }
        if (shaped != NULL && !have_same_shape(shaped, array)) {
            return 0;
        }
        shaped = array;
        if (PyArray_NDIM(array) == 1) {
            strides[i] = PyArray_STRIDE(array, 0);
            continue;
        }
        strides[i] = PyArray_ITEMSIZE(array);
        order &= PyArray_FLAGS(array);
        if (order == 0) {
            return 0;
        }
    }
    PyArrayObject *out = arrays[inputs];
    return PyArray_NDIM(out) != 1 || strides[inputs] >= PyArray_ITEMSIZE(out);
}

/* NumPy's iterator; with BUFFERED the one that it makes for a call of an elementwise function, which
   casts to `types`, and at times copies parts together to call the loop less often. */
static NpyIter *make_iterator(PyArrayObject *const *arrays, int inputs, int const *types,
                              npy_uint32 buffers) {
    PyArrayObject *operands[MOST_ARRAYS];
    PyArray_Descr *descriptions[MOST_ARRAYS];
    npy_uint32 flags[MOST_ARRAYS];
    for (int i = 0; i <= inputs; i++) {
        operands[i] = arrays[i];
        descriptions[i] = PyArray_DescrFromType(types[i]);
        flags[i] = NPY_ITER_READONLY | NPY_ITER_ALIGNED | NPY_ITER_OVERLAP_ASSUME_ELEMENTWISE;
    }
    flags[inputs] = NPY_ITER_WRITEONLY | NPY_ITER_ALIGNED | NPY_ITER_NO_BROADCAST
                    | NPY_ITER_NO_SUBTYPE | NPY_ITER_OVERLAP_ASSUME_ELEMENTWISE;
    npy_uint32 how = NPY_ITER_EXTERNAL_LOOP | NPY_ITER_REFS_OK | NPY_ITER_ZEROSIZE_OK
                     | NPY_ITER_COPY_IF_OVERLAP | buffers;
    NpyIter *made = NpyIter_AdvancedNew(inputs + 1, operands, how, NPY_KEEPORDER,
                                        NPY_UNSAFE_CASTING, flags, descriptions, -1, NULL, NULL,
                                        buffers == 0 ? 0 : NPY_BUFSIZE);
    for (int i = 0; i <= inputs; i++) {
        Py_DECREF(descriptions[i]);
    }
    return made;
}

/* Whether it goes over the very arrays, and not over copies, which would be of now. */
static int goes_over(NpyIter *iterator, PyArrayObject *const *arrays, int count) {
    for (int i = 0; i < count; i++) {
        if (NpyIter_GetOperandArray(iterator)[i] != arrays[i]) {
            return 0;
        }
    }
    return !NpyIter_IterationNeedsAPI(iterator);
}

static int walk(Row *row, NpyIter *iterator, Visit visit) {
    NpyIter_IterNextFunc *next = NpyIter_GetIterNext(iterator, NULL);
    char **at = NpyIter_GetDataPtrArray(iterator);
    npy_intp *strides = NpyIter_GetInnerStrideArray(iterator);
    npy_intp *count = NpyIter_GetInnerLoopSizePtr(iterator);
    if (restart(iterator) < 0) {
        return -1;
    }
    int goes_on = 1;
    do {
        goes_on = visit(row, at, strides, *count);
    } while (goes_on && next(iterator));
    if (!goes_on) {
        row->times = 0;
    }
    return 0;
}

/* An iterator over the arrays themselves; NULL, and no error, where there is none: shapes may not
   fit, and then the Python call says so. */
static NpyIter *iterate(PyArrayObject *const *arrays, int inputs, int const *types,
                        npy_uint32 buffers) {
    NpyIter *iterator = make_iterator(arrays, inputs, types, buffers);
    int fits = iterator != NULL && goes_over(iterator, arrays, inputs + 1);
    PyErr_Clear();
    if (!fits && iterator != NULL) {
        NpyIter_Deallocate(iterator);
    }
    return fits ? iterator : NULL;
}

/* Whether any loop gives the same bits, however many elements it gets. */
static int is_rounded_once(PyUFuncObject *ufunc, PyArrayObject *const *arrays) {
    return PySet_Contains(known.rounded_once, (PyObject *)ufunc) == 1
           && !PyArray_ISCOMPLEX(arrays[0]);
}

/* As calls of the loop: one, or more where it does not matter how many elements each of them gets. */
static int bind_calls(Row *row, int inputs, PyArrayObject *const *arrays, int const *types) {
    NpyIter *iterator = iterate(arrays, inputs, types, 0);
    if (iterator == NULL) {
        return 0;
    }
    int walked = walk(row, iterator, note_call) == 0;
    NpyIter_Deallocate(iterator);
    row->kind = LOOP;
    return walked && (row->times == 1 || row->is_free) && is_noted(row, arrays);
}

/* As NumPy goes over the arrays itself. */
static Outcome bind_iteration(Row *row, PyArrayObject *const *arrays, int inputs,
                              int const *types) {
    npy_uint32 buffers = NPY_ITER_BUFFERED | NPY_ITER_GROWINNER | NPY_ITER_DELAY_BUFALLOC;
    row->more = iterate(arrays, inputs, types, buffers);
    row->kind = ITERATION;
    return row->more == NULL ? UNFIT : BOUND;
}

Outcome bind_elementwise(Row *row, PyUFuncObject *ufunc, PyArrayObject *const *arrays) {
    int inputs = ufunc->nin, types[MOST_ARRAYS];
    PyArrayObject *out = arrays[inputs];
    if (!is_callable(ufunc, arrays) || !can_be_result(out) || !may_run_in_place(arrays, inputs)) {
        return UNFIT;
    }
    for (int i = 0; i <= inputs; i++) {
        types[i] = PyArray_TYPE(arrays[i]);
        row->sizes[i] = PyArray_ITEMSIZE(arrays[i]);
        row->at[i] = PyArray_BYTES(arrays[i]);
    }
    row->arrays = ufunc->nargs;
    row->size = PyArray_SIZE(out);
    if (!find_loop(ufunc, arrays, row)) {
        int casts = row->size > 0 && find_masking_loop(ufunc, arrays, row, types);
        return casts ? bind_iteration(row, arrays, inputs, types) : UNFIT;
    }
    row->is_free = is_rounded_once(ufunc, arrays);
    if (find_strides(arrays, inputs, row->strides)) {
        row->kind = row->size == 0 ? NOTHING : LOOP;
        row->times = 1;
        row->count = row->size;
        return BOUND;
    }
    if (row->size == 0) {
        return UNFIT;
    }
    if (bind_calls(row, inputs, arrays, types)) {
        return BOUND;
    }
    return bind_iteration(row, arrays, inputs, types);
}

int run_iteration(Row *row) { return walk(row, row->more, make_call); }
