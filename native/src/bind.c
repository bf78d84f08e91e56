/* From a bound call to a row: which function it is of, and whether its arguments are arrays. */
#include "row.h"
#include <string.h>

Known known;

/* The arrays of an elementwise call: the arguments, and `out` where it is given by its name. */
static int take_arrays(PyUFuncObject *ufunc, PyObject *arguments, PyObject *keywords,
                       PyArrayObject **arrays) {
    Py_ssize_t given = PyTuple_Size(arguments), named = keywords ? PyDict_Size(keywords) : 0;
    PyObject *out = named == 1 ? PyDict_GetItemString(keywords, "out") : NULL;
    if (ufunc->nargs > MOST_ARRAYS || given + named != ufunc->nargs || (named && out == NULL)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < ufunc->nargs; i++) {
        PyObject *array = i < given ? PyTuple_GetItem(arguments, i) : out;
        if (!is_plain(array)) {
            return 0;
        }
        arrays[i] = (PyArrayObject *)array;
    }
    return 1;
}

static Outcome bind_function(Row *row, PyObject *function, PyObject *arguments, PyObject *keywords) {
    PyArrayObject *arrays[MOST_ARRAYS];
    if (PyObject_TypeCheck(function, &PyUFunc_Type)) {
        PyUFuncObject *ufunc = (PyUFuncObject *)function;
        if (!take_arrays(ufunc, arguments, keywords, arrays)) {
            return UNFIT;
        }
        return function == known.matmul ? bind_product(row, ufunc, arrays)
                                        : bind_elementwise(row, ufunc, arrays);
    }
    if (keywords != NULL && PyDict_Size(keywords) != 0) {
        return UNFIT;
    }
    if (function == known.copyto) {
        return bind_copy(row, arguments);
    }
    if (PyCFunction_Check(function) && PyCFunction_GetFunction(function) == known.reduce) {
        return bind_reduction(row, (PyUFuncObject *)PyCFunction_GetSelf(function), arguments);
    }
    if (PyCFunction_Check(function) && PyCFunction_GetFunction(function) == known.fill) {
        return bind_fill(row, PyCFunction_GetSelf(function), arguments);
    }
    return UNFIT;
}

/* Makes `row` that of `call`; where it fits no other kind, a CALL. */
Outcome bind_row(Row *row, PyObject *call) {
    memset(row, 0, sizeof *row);
    row->kind = CALL;
    if ((PyObject *)Py_TYPE(call) != known.partial) {
        return UNFIT;
    }
    PyObject *function = PyObject_GetAttrString(call, "func");
    PyObject *arguments = PyObject_GetAttrString(call, "args");
    PyObject *keywords = PyObject_GetAttrString(call, "keywords");
    Outcome outcome = FAILED;
    if (function != NULL && arguments != NULL && keywords != NULL) {
        outcome = bind_function(row, function, arguments, PyDict_Check(keywords) ? keywords : NULL);
    }
    if (outcome != BOUND) {
        row->kind = CALL;
    }
    Py_XDECREF(function); /* the call holds them, and what they hold */
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return outcome;
}

void release_row(Row *row) {
    if (row->kind == ITERATION) {
        NpyIter_Deallocate(row->more);
    } else if (row->kind == REDUCTION) {
        release_reduction(row);
    } else if (row->kind == PRODUCT) {
        release_product(row);
    }
}

static PyObject *import_name(char const *module, char const *name) {
    PyObject *from = PyImport_ImportModule(module);
    PyObject *found = from == NULL ? NULL : PyObject_GetAttrString(from, name);
    Py_XDECREF(from);
    return found;
}

/* Additions and the like, and what only moves bits: right to the last bit, and so the same in every
   loop. (Which of two zeros a maximum takes depends on the loop; so does what the C library rounds.) */
static char const *const ROUNDED_ONCE[] = {
    "add",        "subtract",    "multiply",     "divide",        "negative",   "absolute",
    "square",     "sqrt",        "reciprocal",   "equal",         "not_equal",  "less",
    "less_equal", "greater",     "greater_equal", "logical_and",  "logical_or", "logical_not",
    "isnan",      "isfinite",    "isinf",        "floor",         "ceil",       "trunc",
    "sign",       "copysign",    "signbit",      "bitwise_and",   "bitwise_or", "bitwise_xor",
    NULL};

static PyObject *import_rounded_once(void) {
    PyObject *set = PySet_New(NULL);
    for (char const *const *name = ROUNDED_ONCE; set != NULL && *name != NULL; name++) {
        PyObject *ufunc = import_name("numpy", *name);
        if (ufunc == NULL || PySet_Add(set, ufunc) < 0) {
            Py_CLEAR(set);
        }
        Py_XDECREF(ufunc);
    }
    return set;
}

/* The C function behind a method of every object of that type. */
static PyCFunction find_method(PyObject *object, char const *name) {
    PyObject *method = object == NULL ? NULL : PyObject_GetAttrString(object, name);
    int found = method != NULL && PyCFunction_Check(method);
    PyCFunction function = found ? PyCFunction_GetFunction(method) : NULL;
    Py_XDECREF(method);
    return function;
}

int import_known(void) {
    known.partial = import_name("functools", "partial");
    known.copyto = import_name("numpy", "copyto");
    known.matmul = import_name("numpy", "matmul");
    known.add = import_name("numpy", "add");
    known.multiply = import_name("numpy", "multiply");
    known.maximum = import_name("numpy", "maximum");
    known.minimum = import_name("numpy", "minimum");
    known.power = import_name("numpy", "power");
    known.rounded_once = import_rounded_once();
    known.reduce = find_method(known.add, "reduce");
    npy_intp none = 0;
    PyObject *array = PyArray_SimpleNew(1, &none, NPY_DOUBLE);
    known.fill = find_method(array, "fill");
    Py_XDECREF(array);
    return PyErr_Occurred() ? -1 : 0;
}
