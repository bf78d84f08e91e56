/* Calls of an inner loop: one after the other, at places as far apart each time. */
#include "row.h"
#include <string.h>

#define MOST_NOTED (1 << 16) /* calls, so that to note them takes no time */

void run_loop(Row const *row) {
    char *at[MOST_ARRAYS]; /* loops may move them */
    for (npy_intp time = 0; time < row->times; time++) {
        for (int i = 0; i < MOST_ARRAYS; i++) {
            at[i] = row->at[i] + time * row->leaps[i];
        }
        npy_intp count = row->count;
        row->loop(at, &count, row->strides, row->data);
    }
}

/* Puts an iterator at its beginning. It must not have been there before: then its buffers hold what
   was there at the time. The first time it makes them, which needs the interpreter. */
int restart(NpyIter *iterator) {
    if (!NpyIter_HasDelayedBufAlloc(iterator)) {
        return NpyIter_Reset(iterator, NULL) == NPY_SUCCEED ? 0 : -1;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    int done = NpyIter_Reset(iterator, NULL) == NPY_SUCCEED;
    PyGILState_Release(state);
    return done ? 0 : -1;
}

int make_call(Row *row, char *const *at, npy_intp const *strides, npy_intp count) {
    char *places[MOST_ARRAYS];
    memcpy(places, at, (size_t)row->arrays * sizeof *places);
    row->loop(places, &count, strides, row->data);
    return 1;
}

static int is_next(Row const *row, char *const *at, npy_intp const *strides, npy_intp count) {
    int alike = count == row->count && row->times < MOST_NOTED;
    for (int i = 0; i < row->arrays; i++) {
        alike = alike && strides[i] == row->strides[i]
                && at[i] == row->at[i] + row->times * row->leaps[i];
    }
    return alike;
}

/* Adds a call to those of `row`; 0: it does not go on as they do. */
int note_call(Row *row, char *const *at, npy_intp const *strides, npy_intp count) {
    for (int i = 0; i < row->arrays && row->times < 2; i++) {
        row->leaps[i] = row->times == 1 ? at[i] - row->at[i] : 0;
        if (row->times == 0) {
            row->at[i] = at[i];
            row->strides[i] = strides[i];
            row->count = count;
        }
    }
    if (!is_next(row, at, strides, count)) {
        return 0;
    }
    row->times++;
    return 1;
}

/* Whether the calls are all there are, and on the arrays themselves: iterators have buffers. */
int is_noted(Row const *row, PyArrayObject *const *arrays) {
    int noted = row->times > 0;
    for (int i = 0; i < row->arrays && noted; i++) {
        noted = holds(arrays[i], row->at[i])
                && holds(arrays[i], row->at[i] + (row->times - 1) * row->leaps[i]);
    }
    return noted;
}
