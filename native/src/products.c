/* Rows of `np.matmul`: its inner loop, which looks at the strides and calls NumPy's BLAS. */
#include "row.h"

typedef struct {
    npy_intp sizes[4]; /* how many products; rows, columns to sum over, columns of each */
    npy_intp steps[9]; /* from product to product of the three arrays; then theirs within one */
} Product;

/* The stride from matrix to matrix, where one stride leads through all; -1 where none does. */
static npy_intp find_outer_stride(PyArrayObject *array, PyArrayObject *out) {
    int outer = PyArray_NDIM(array) - 2;
    if (outer == 0) {
        return 0;
    }
    if (outer != PyArray_NDIM(out) - 2
        || !PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(out), outer)) {
        return -1;
    }
    for (int axis = 0; axis < outer - 1; axis++) {
        if (PyArray_STRIDE(array, axis)
            != PyArray_STRIDE(array, axis + 1) * PyArray_DIM(array, axis + 1)) {
            return -1;
        }
    }
    npy_intp stride = PyArray_STRIDE(array, outer - 1);
    return stride < 0 ? -1 : stride;
}

/* The last two strides; none along an axis of one element, as NumPy has it. */
static void find_inner_strides(PyArrayObject *array, npy_intp *strides) {
    for (int i = 0; i < 2; i++) {
        int axis = PyArray_NDIM(array) - 2 + i;
        strides[i] = PyArray_DIM(array, axis) == 1 ? 0 : PyArray_STRIDE(array, axis);
    }
}

static int have_fitting_sizes(PyArrayObject *const *arrays, npy_intp *sizes) {
    npy_intp ends[3][2];
    sizes[0] = 1;
    for (int i = 0; i < 3; i++) {
        int rank = PyArray_NDIM(arrays[i]);
        if (rank < 2 || PyArray_SIZE(arrays[i]) == 0) {
            return 0;
        }
        ends[i][0] = PyArray_DIM(arrays[i], rank - 2);
        ends[i][1] = PyArray_DIM(arrays[i], rank - 1);
    }
    for (int axis = 0; axis < PyArray_NDIM(arrays[2]) - 2; axis++) {
        sizes[0] *= PyArray_DIM(arrays[2], axis);
    }
    sizes[1] = ends[0][0];
    sizes[2] = ends[0][1];
    sizes[3] = ends[1][1];
    return ends[1][0] == sizes[2] && ends[2][0] == sizes[1] && ends[2][1] == sizes[3];
}

Outcome bind_product(Row *row, PyUFuncObject *ufunc, PyArrayObject *const *arrays) {
    Product made;
    PyArrayObject *out = arrays[2];
    if (!can_be_result(out) || !find_loop(ufunc, arrays, row)
        || !have_fitting_sizes(arrays, made.sizes)) {
        return UNFIT;
    }
    for (int i = 0; i < 3; i++) {
        made.steps[i] = find_outer_stride(arrays[i], out);
        if (made.steps[i] < 0 || (i < 2 && !are_apart(arrays[i], out))) {
            return UNFIT;
        }
        find_inner_strides(arrays[i], made.steps + 3 + 2 * i);
        row->at[i] = PyArray_BYTES(arrays[i]);
    }
    Product *kept = PyMem_Malloc(sizeof(Product));
    if (kept == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    *kept = made;
    row->kind = PRODUCT;
    row->size = made.sizes[0] * made.sizes[1] * made.sizes[2] * made.sizes[3];
    row->more = kept;
    return BOUND;
}

void run_product(Row const *row) {
    Product const *product = row->more;
    char *at[3] = {row->at[0], row->at[1], row->at[2]}; /* the loop moves them */
    row->loop(at, product->sizes, product->steps, row->data);
}

void release_product(Row *row) {
    PyMem_Free(row->more);
    row->more = NULL;
}
