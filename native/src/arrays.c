/* What rows ask of arrays: whether NumPy would take them as they lie, and whether they overlap. */
#include "row.h"

/* A number's array, in the machine's byte order, that lies where the machine wants it. */
int is_plain(PyObject *object) {
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    int type = PyArray_TYPE(array);
    int number = PyTypeNum_ISBOOL(type) || PyTypeNum_ISNUMBER(type);
    return number && type != NPY_LONGDOUBLE && type != NPY_CLONGDOUBLE && PyArray_ISALIGNED(array)
           && PyArray_ISNOTSWAPPED(array);
}

/* The axis of the smallest stride of those that have more than one element and are not marked. */
static int find_inner_axis(PyArrayObject *array, char const *marked) {
    int found = -1;
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        int candidate = PyArray_DIM(array, axis) > 1 && !marked[axis];
        if (candidate
            && (found < 0
                || Py_ABS(PyArray_STRIDE(array, axis)) < Py_ABS(PyArray_STRIDE(array, found)))) {
            found = axis;
        }
    }
    return found;
}

/* Whether each axis leads beyond all that lies within the axes of smaller strides, so that no two
   elements share a byte. */
static int has_elements_apart(PyArrayObject *array) {
    char marked[NPY_MAXDIMS] = {0};
    npy_intp within = PyArray_ITEMSIZE(array);
    for (int axis; (axis = find_inner_axis(array, marked)) >= 0; marked[axis] = 1) {
        npy_intp stride = Py_ABS(PyArray_STRIDE(array, axis));
        if (stride < within) {
            return 0;
        }
        within += stride * (PyArray_DIM(array, axis) - 1);
    }
    return 1;
}

/* Whether it may be written to, every element by itself. */
int can_be_result(PyArrayObject *array) {
    return PyArray_ISWRITEABLE(array)
           && (PyArray_IS_C_CONTIGUOUS(array) || has_elements_apart(array));
}

int is_contiguous(PyArrayObject *array) { return PyArray_IS_C_CONTIGUOUS(array) != 0; }

int have_same_shape(PyArrayObject *a, PyArrayObject *b) {
    return PyArray_NDIM(a) == PyArray_NDIM(b)
           && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

/* The memory from an array's lowest byte to behind its highest; empty if it has no elements. */
static void find_extent(PyArrayObject *array, char **low, char **high) {
    *low = *high = PyArray_BYTES(array);
    if (PyArray_SIZE(array) == 0) {
        return;
    }
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        npy_intp reach = (PyArray_DIM(array, axis) - 1) * PyArray_STRIDE(array, axis);
        *(reach < 0 ? low : high) += reach;
    }
    *high += PyArray_ITEMSIZE(array);
}

/* Whether the two have certainly no byte in common. */
int are_apart(PyArrayObject *a, PyArrayObject *b) {
    char *low_a, *high_a, *low_b, *high_b;
    find_extent(a, &low_a, &high_a);
    find_extent(b, &low_b, &high_b);
    return high_a <= low_b || high_b <= low_a;
}

/* Whether `place` is in the array's memory. */
int holds(PyArrayObject *array, char const *place) {
    char *low, *high;
    find_extent(array, &low, &high);
    return low <= place && place < high;
}

/* Whether each element of the one is that of the other, which is work in place. */
int are_same(PyArrayObject *a, PyArrayObject *b) {
    if (PyArray_BYTES(a) != PyArray_BYTES(b) || PyArray_ITEMSIZE(a) != PyArray_ITEMSIZE(b)
        || !have_same_shape(a, b)) {
        return 0;
    }
    for (int axis = 0; axis < PyArray_NDIM(a); axis++) {
        if (PyArray_DIM(a, axis) > 1 && PyArray_STRIDE(a, axis) != PyArray_STRIDE(b, axis)) {
            return 0;
        }
    }
    return 1;
}
