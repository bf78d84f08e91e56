/* Rows on the same elements, part by part: what one has made is in the first cache for the next. */
#include "row.h"
#include <string.h>

#define MOST_TOGETHER 64

/* Whether the loop of `row` may get its elements in parts, each array being one number or without
   gaps. */
static int can_be_cut(Row const *row) {
    if (row->kind != LOOP || row->times != 1 || !row->is_free) {
        return 0;
    }
    for (int i = 0; i < row->arrays; i++) {
        if (row->strides[i] != 0 && row->strides[i] != row->sizes[i]) {
            return 0;
        }
    }
    return row->strides[row->arrays - 1] != 0;
}

/* Whether array i of `a` and array j of `b` are element by element the same, or have no byte in
   common. */
static int lie_well(Row const *a, int i, Row const *b, int j) {
    char const *end_a = a->at[i] + (a->strides[i] ? a->count : 1) * a->sizes[i];
    char const *end_b = b->at[j] + (b->strides[j] ? b->count : 1) * b->sizes[j];
    int same = a->at[i] == b->at[j] && a->strides[i] == b->strides[j];
    return same || end_a <= b->at[j] || end_b <= a->at[i];
}

/* Whether it does not matter which of the two is done first, but on the same element. */
static int go_together(Row const *a, Row const *b) {
    int fit = a->count == b->count, last_a = a->arrays - 1, last_b = b->arrays - 1;
    for (int i = 0; i <= last_a && fit; i++) {
        fit = lie_well(a, i, b, last_b);
    }
    for (int j = 0; j <= last_b && fit; j++) {
        fit = lie_well(a, last_a, b, j);
    }
    return fit;
}

static npy_intp part_of(Row const *first, Row const *end, npy_intp bytes) {
    npy_intp widest = 1;
    for (Row const *row = first; row < end; row++) {
        for (int i = 0; i < row->arrays; i++) {
            widest = row->sizes[i] > widest ? row->sizes[i] : widest;
        }
    }
    return bytes > widest ? bytes / widest : 1;
}

/* Sets of each row behind which one those end that run together with it. */
void find_together(Row *rows, Py_ssize_t count, npy_intp bytes) {
    Py_ssize_t end;
    for (Py_ssize_t start = 0; start < count; start = end) {
        end = start + 1;
        int more = can_be_cut(rows + start) && rows[start].count * rows[start].sizes[0] > 2 * bytes;
        while (more && end < count && end - start < MOST_TOGETHER) {
            more = can_be_cut(rows + end);
            for (Py_ssize_t i = start; i < end && more; i++) {
                more = go_together(rows + i, rows + end);
            }
            end += more;
        }
        npy_intp part = part_of(rows + start, rows + end, bytes);
        for (Py_ssize_t i = start; i < end; i++) {
            rows[i].together = end;
            rows[i].part = part;
        }
    }
}

void run_together(Row const *first, Row const *end) {
    for (npy_intp done = 0; done < first->count; done += first->part) {
        npy_intp left = first->count - done, part = left < first->part ? left : first->part;
        for (Row const *row = first; row < end; row++) {
            char *at[MOST_ARRAYS]; /* loops may move them */
            for (int i = 0; i < row->arrays; i++) {
                at[i] = row->at[i] + done * row->strides[i];
            }
            npy_intp count = part;
            row->loop(at, &count, row->strides, row->data);
        }
    }
}
