/* Copies that nobody looks at soon: past the caches, which keep what they have. */
#include "row.h"
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LINE 64 /* bytes that memory is written by */

/* Writes whole lines without reading them first; what is not a whole one before and behind them goes
   the usual way. */
static void copy_lines(char *to, char const *from, size_t bytes) {
#ifdef __SSE2__
    size_t before = (LINE - (uintptr_t)to % LINE) % LINE;
    before = before < bytes ? before : bytes;
    size_t lines = (bytes - before) / LINE, after = (bytes - before) % LINE;
    memcpy(to, from, before);
    to += before;
    from += before;
    for (size_t i = 0; i < lines; i++, to += LINE, from += LINE) {
        __m128i parts[4];
        for (int j = 0; j < 4; j++) {
            parts[j] = _mm_loadu_si128((__m128i const *)from + j);
        }
        for (int j = 0; j < 4; j++) {
            _mm_stream_si128((__m128i *)to + j, parts[j]);
        }
    }
    _mm_sfence(); /* before anybody else is told that it is there */
    memcpy(to, from, after);
#else
    memcpy(to, from, bytes);
#endif
}

/* copy_aside(into, of) */
PyObject *copy_aside(PyObject *module, PyObject *arguments) {
    Py_buffer to, from;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "w*y*:copy_aside", &to, &from)) {
        return NULL;
    }
    char *into = to.buf, *of = from.buf;
    size_t bytes = (size_t)from.len;
    int fits = to.len == from.len && (into + bytes <= of || of + bytes <= into);
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        copy_lines(into, of, bytes);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&to);
    PyBuffer_Release(&from);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "copy_aside takes as many bytes, apart from each other");
        return NULL;
    }
    Py_RETURN_NONE;
}
