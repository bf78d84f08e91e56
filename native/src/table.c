/* The type Table: bound calls as rows, and the walk through them. */
#define GRADSTEP_IMPORTS_NUMPY
#include "row.h"
#include <string.h>

/* Work is counted in elements, and a row as so many more. */
#define WORK_OF_A_ROW 64
/* From here on other threads may run meanwhile; after so much the interpreter is asked for signals. */
#define WORK_TO_LET_GO (1 << 14)
#define WORK_AT_ONCE (1 << 19)
/* Of each array, what some of them together have room for in the first cache. */
#define PART_BYTES (1 << 13)

typedef struct {
    PyObject_HEAD
    PyObject *calls; /* a tuple: holds what the rows point into */
    Row *rows;
    Py_ssize_t count, native;
    npy_intp part;
    int let_go; /* whether a thread runs rows without the interpreter */
} Table;

static char const *const NAMES[] = {"call",    "nothing", "loop", "iteration", "reduction",
                                    "product", "move",    "fill", "choice",  "assignment"};

static int needs_interpreter(Row const *row) { return row->kind == CALL || row->kind == ASSIGNMENT; }

/* Sets how far rows run together: up to one that needs the interpreter (which runs by itself), or to
   enough work. */
static void find_ends(Table *table) {
    Row *rows = table->rows;
    npy_intp work = 0;
    for (Py_ssize_t i = 0; i < table->count; i++) {
        rows[i].before = work;
        work += rows[i].size + WORK_OF_A_ROW;
    }
    Py_ssize_t end = table->count;
    for (Py_ssize_t i = table->count - 1; i >= 0; i--) {
        int is_last = i + 1 < table->count && needs_interpreter(rows + i + 1);
        int may_end = rows[i].together == i + 1; /* rows on the same parts stay together */
        if (is_last || (may_end && work - rows[i].before > WORK_AT_ONCE)) {
            end = i + 1;
            work = rows[i].before + rows[i].size + WORK_OF_A_ROW;
        }
        rows[i].end = end;
    }
}

static int bind_rows(Table *table) {
    for (Py_ssize_t i = 0; i < table->count; i++) {
        Outcome outcome = bind_row(table->rows + i, PyTuple_GetItem(table->calls, i));
        if (outcome == FAILED) {
            return -1;
        }
        table->native += outcome == BOUND;
    }
    find_together(table->rows, table->count, table->part);
    find_ends(table);
    return 0;
}

static PyObject *make_table(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *calls;
    Py_ssize_t part = PART_BYTES;
    static char *names[] = {"calls", "part", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|n:Table", names, &calls, &part)) {
        return NULL;
    }
    calls = PySequence_Tuple(calls);
    if (calls == NULL) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Table *table = (Table *)allocate(type, 0);
    if (table == NULL) {
        Py_DECREF(calls);
        return NULL;
    }
    table->calls = calls;
    table->part = part;
    table->count = PyTuple_Size(calls);
    table->rows = PyMem_Calloc((size_t)table->count + 1, sizeof(Row));
    if (table->rows == NULL) {
        PyErr_NoMemory();
    }
    if (table->rows == NULL || bind_rows(table) < 0) {
        Py_DECREF(table);
        return NULL;
    }
    return (PyObject *)table;
}

static int run_row(Row *row) {
    switch (row->kind) {
    case LOOP: run_loop(row); break;
    case ITERATION: return run_iteration(row);
    case REDUCTION: return run_reduction(row);
    case PRODUCT: run_product(row); break;
    case MOVE: memmove(row->at[1], row->at[0], (size_t)row->strides[1]); break;
    case FILL: run_fill(row); break;
    case CHOICE: run_choice(row); break;
    case NOTHING:
    case CALL:
    case ASSIGNMENT: break;
    }
    return 0;
}

/* Runs rows that do without the interpreter, from `*at` on, which tells how far that got; -1 with an
   error set where memory lacked, or a signal raised one. */
static int run_rows(Table *table, Py_ssize_t *at, Py_ssize_t end) {
    Row *rows = table->rows;
    npy_intp work = rows[end - 1].before + rows[end - 1].size - rows[*at].before;
    int lets_go = work > WORK_TO_LET_GO, failed = 0;
    PyThreadState *thread = NULL;
    if (table->let_go) {
        PyErr_SetString(PyExc_RuntimeError, "the table is run by another thread");
        return -1;
    }
    if (lets_go) {
        table->let_go = 1;
        thread = PyEval_SaveThread();
    }
    while (*at < end && !failed) {
        Py_ssize_t stop = rows[*at].together < end ? rows[*at].together : end;
        if (stop > *at + 1) {
            run_together(rows + *at, rows + stop);
            *at = stop;
        } else {
            failed = run_row(rows + *at);
            *at += !failed;
        }
    }
    if (lets_go) {
        PyEval_RestoreThread(thread);
        table->let_go = 0;
        failed = failed || PyErr_CheckSignals();
    }
    return failed ? -1 : 0;
}

/* Runs row `*at`, and those up to `end` that run together with it; likewise. */
static int run_next(Table *table, Py_ssize_t *at, Py_ssize_t end) {
    Row const *row = table->rows + *at;
    int failed;
    if (!needs_interpreter(row)) {
        return run_rows(table, at, row->end < end ? row->end : end);
    }
    if (row->kind == ASSIGNMENT) {
        failed = run_assignment(row);
    } else {
        PyObject *result = PyObject_CallNoArgs(PyTuple_GetItem(table->calls, *at));
        failed = result == NULL;
        Py_XDECREF(result);
    }
    *at += !failed;
    return failed ? -1 : 0;
}

/* The pair (done, error) for an exception that is set; NULL where it is none to be caught. */
static PyObject *catch_error(Py_ssize_t done) {
    PyObject *type, *value, *traceback;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return NULL;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *pair = Py_BuildValue("nO", done, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return pair;
}

static PyObject *run(PyObject *self, PyObject *const *arguments, Py_ssize_t given) {
    Table *table = (Table *)self;
    Py_ssize_t start = given == 2 ? PyLong_AsSsize_t(arguments[0]) : 0;
    Py_ssize_t stop = given == 2 ? PyLong_AsSsize_t(arguments[1]) : table->count;
    if (PyErr_Occurred()) {
        return NULL;
    }
    if ((given != 0 && given != 2) || start < 0 || stop > table->count || start > stop) {
        return PyErr_Format(PyExc_IndexError, "run takes a range within %zd rows", table->count);
    }
    Py_ssize_t at = start;
    while (at < stop) {
        if (run_next(table, &at, stop) < 0) {
            return catch_error(at - start);
        }
    }
    return Py_BuildValue("nO", stop - start, Py_None);
}

static PyObject *call_row(PyObject *self, PyObject *number) {
    Table *table = (Table *)self;
    Py_ssize_t at = PyLong_AsSsize_t(number);
    if (at == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (at < 0 || at >= table->count) {
        return PyErr_Format(PyExc_IndexError, "the table has %zd rows", table->count);
    }
    if (run_next(table, &at, at + 1) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *list_kinds(PyObject *self, PyObject *unused) {
    (void)unused;
    Table *table = (Table *)self;
    PyObject *kinds = PyList_New(table->count);
    for (Py_ssize_t i = 0; kinds != NULL && i < table->count; i++) {
        PyObject *name = PyUnicode_FromString(NAMES[table->rows[i].kind]);
        if (name == NULL || PyList_SetItem(kinds, i, name) < 0) {
            Py_CLEAR(kinds);
        }
    }
    return kinds;
}

static PyObject *get_native(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(((Table *)self)->native);
}

static Py_ssize_t get_length(PyObject *self) { return ((Table *)self)->count; }

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Table *)self)->calls);
    return 0;
}

/* The rows point into what the calls hold: they go together. */
static int clear(PyObject *self) {
    Table *table = (Table *)self;
    for (Py_ssize_t i = 0; table->rows != NULL && i < table->count; i++) {
        release_row(table->rows + i);
    }
    PyMem_Free(table->rows);
    table->rows = NULL;
    table->count = table->native = 0;
    Py_CLEAR(table->calls);
    return 0;
}

static void deallocate(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL,
     "run(start, stop): make the calls of this range, or of all, one after the other; how many are "
     "done then, and the exception that stopped them early, or None."},
    {"call", call_row, METH_O, "call(row): make one call. Raises what it raises."},
    {"kinds", list_kinds, METH_NOARGS, "What each row is: 'call' is one of Python's own."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"native", get_native, NULL, "How many rows are more than Python calls.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Table(calls, part): calls without arguments, to be made one after the other. Those "
                "that are `partial`s of NumPy's functions on arrays run as NumPy's inner loops; "
                "part: bytes of each array that some of them go over before the next."},
    {Py_tp_new, make_table},
    {Py_tp_dealloc, deallocate},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_sq_length, get_length},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "gradstep_native.Table",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

static PyMethodDef functions[] = {
    {"add_rows", add_rows, METH_VARARGS,
     "add_rows(total, values, places): add row i of `values` [n, width] to row places[i] of `total` "
     "[count, width], one after another; False, and nothing done, where that is not for it."},
    {"copy_aside", copy_aside, METH_VARARGS,
     "copy_aside(into, of): copy the bytes of one buffer to another that nobody reads soon."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gradstep_native._table", "See gradstep_native.", -1, functions, NULL,
    NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__table(void) {
    import_array();
    import_umath();
    if (import_known() < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    PyObject *type = module == NULL ? NULL : PyType_FromSpec(&spec);
    if (type == NULL || PyModule_AddObjectRef(module, "Table", type) < 0) {
        Py_XDECREF(module);
        module = NULL;
    }
    Py_XDECREF(type);
    return module;
}
