/* A row of a table: one bound call of NumPy's, ready for its own inner loop. */
#ifndef GRADSTEP_ROW_H
#define GRADSTEP_ROW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL gradstep_native_array_api
#define PY_UFUNC_UNIQUE_SYMBOL gradstep_native_ufunc_api
#ifndef GRADSTEP_IMPORTS_NUMPY /* table.c does, for all */
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#define MOST_ARRAYS 4 /* of a row: three inputs and the result */

typedef enum {
    CALL,      /* what no other kind fits: the Python call itself */
    NOTHING,   /* on arrays without elements */
    LOOP,      /* an inner loop, called once or several times, as far apart each time */
    ITERATION, /* an inner loop, called for each stretch that NumPy's iterator finds */
    REDUCTION, /* either, from an initial value on */
    PRODUCT,   /* matmul's loop, which calls NumPy's BLAS */
    MOVE,      /* bytes from one place to another */
    FILL,      /* one value everywhere */
    CHOICE,    /* those elements that a mask says */
    ASSIGNMENT /* NumPy's own assignment, which needs the interpreter */
} Kind;

typedef struct {
    Kind kind;
    int arrays;
    Py_ssize_t end;  /* the row after the last one that runs together with this one */
    npy_intp before; /* work of all rows before this one, see WORK_OF_A_ROW */
    PyUFuncGenericFunction loop;
    void *data;
    npy_intp size;  /* elements that there are to go through, as a measure of work */
    npy_intp times; /* calls of the loop */
    npy_intp count; /* elements in each */
    char *at[MOST_ARRAYS];
    npy_intp strides[MOST_ARRAYS];
    npy_intp leaps[MOST_ARRAYS]; /* from call to call */
    void *more; /* what the kind needs besides */
    int is_free;                  /* whether it does not matter how many elements a call gets */
    npy_intp sizes[MOST_ARRAYS];  /* bytes of an element, where it is free */
    Py_ssize_t together;          /* the row after the last one that goes over parts with this one */
    npy_intp part;                /* elements of one */
} Row;

/* What binding a call to a row comes to. */
typedef enum { FAILED = -1, UNFIT = 0, BOUND = 1 } Outcome;

/* The functions whose calls become rows, as Python has them. */
typedef struct {
    PyObject *partial; /* the type of bound calls */
    PyObject *copyto, *matmul, *add, *multiply, *maximum, *minimum, *power;
    PyObject *rounded_once; /* a set: functions that any loop computes to the same bits */
    PyCFunction reduce;     /* behind the method of that name, of every ufunc */
    PyCFunction fill;       /* likewise, of every array */
} Known;

extern Known known;

/* arrays.c */
int is_plain(PyObject *object);
int can_be_result(PyArrayObject *array);
int are_apart(PyArrayObject *a, PyArrayObject *b);
int are_same(PyArrayObject *a, PyArrayObject *b);
int have_same_shape(PyArrayObject *a, PyArrayObject *b);
int is_contiguous(PyArrayObject *array);
int holds(PyArrayObject *array, char const *place);

/* elementwise.c, reductions.c, products.c, copies.c: one call each, as a row. A call that is UNFIT
   leaves nothing behind; no Python error is set then. */
int find_loop(PyUFuncObject *ufunc, PyArrayObject *const *arrays, Row *row);
Outcome bind_elementwise(Row *row, PyUFuncObject *ufunc, PyArrayObject *const *arrays);
Outcome bind_reduction(Row *row, PyUFuncObject *ufunc, PyObject *arguments);
Outcome bind_product(Row *row, PyUFuncObject *ufunc, PyArrayObject *const *arrays);
Outcome bind_copy(Row *row, PyObject *arguments);
Outcome bind_fill(Row *row, PyObject *array, PyObject *arguments);

void run_loop(Row const *row);
int run_iteration(Row *row); /* these, that may take memory: -1 with an error set */
int run_reduction(Row *row);
void run_product(Row const *row);
void run_fill(Row const *row);
void run_choice(Row const *row);
int run_assignment(Row const *row);

/* loops.c */
int restart(NpyIter *iterator);

/* A call of the loop that an iterator came to, made or noted; 0: that is enough. */
typedef int (*Visit)(Row *row, char *const *at, npy_intp const *strides, npy_intp count);
int make_call(Row *row, char *const *at, npy_intp const *strides, npy_intp count);
int note_call(Row *row, char *const *at, npy_intp const *strides, npy_intp count);
int is_noted(Row const *row, PyArrayObject *const *arrays);

void release_reduction(Row *row);
void release_product(Row *row);

/* together.c */
void find_together(Row *rows, Py_ssize_t count, npy_intp bytes);
void run_together(Row const *first, Row const *end);

/* aside.c */
PyObject *copy_aside(PyObject *module, PyObject *arguments);

/* rows_added.c */
PyObject *add_rows(PyObject *module, PyObject *arguments);

/* bind.c */
Outcome bind_row(Row *row, PyObject *call);
void release_row(Row *row);
int import_known(void);

#endif
