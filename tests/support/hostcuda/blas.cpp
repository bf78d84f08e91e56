// The functions of cuBLAS that CuPy calls, as plain loops. float16 products are summed in float32.
#include <cuda_fp16.h>

#include <complex>
#include <cstdio>
#include <cstdlib>

typedef std::complex<float> C;
typedef std::complex<double> Z;
typedef __half H;
typedef const void* In;

template <class T> T conjugated(T x) { return x; }
inline C conjugated(C x) { return std::conj(x); }
inline Z conjugated(Z x) { return std::conj(x); }

enum { PLAIN = 0, TRANSPOSED = 1 };  // otherwise conjugated as well
enum { FLOAT = 0, DOUBLE = 1, HALF = 2, COMPLEX = 4, DOUBLE_COMPLEX = 5 };  // cudaDataType

// Element (i, j) of op(a), which lies in columns of length ld.
template <class T> T at(const T* a, int op, long i, long j, long ld) {
  if (op == PLAIN) return a[i + j * ld];
  return op == TRANSPOSED ? a[j + i * ld] : conjugated(a[j + i * ld]);
}

// c = alpha op(a) op(b) + beta c, summed in S.
template <class T, class S>
void product(int ta, int tb, int m, int n, int k, In alpha, In a, int lda, In b, int ldb, In beta,
             void* c, int ldc) {
  const S by = *(const S*)alpha, keep = *(const S*)beta;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      S sum = 0;
      for (int p = 0; p < k; p++)
        sum += (S)at((const T*)a, ta, i, p, lda) * (S)at((const T*)b, tb, p, j, ldb);
      T& to = ((T*)c)[i + (long)j * ldc];
      to = (T)(keep == S(0) ? by * sum : by * sum + keep * (S)to);
    }
}

static void gemm(int type, int ta, int tb, int m, int n, int k, In alpha, In a, int lda, In b,
                 int ldb, In beta, void* c, int ldc) {
  auto function = type == FLOAT            ? product<float, float>
                  : type == DOUBLE         ? product<double, double>
                  : type == HALF           ? product<H, float>
                  : type == COMPLEX        ? product<C, C>
                  : type == DOUBLE_COMPLEX ? product<Z, Z>
                                           : nullptr;
  if (!function) {
    fprintf(stderr, "hostcuda: no product of data type %d\n", type);
    abort();
  }
  function(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static int size_of(int type) {
  return type == FLOAT ? 4 : type == HALF ? 2 : type == DOUBLE_COMPLEX ? 16 : 8;
}

static int pointer_mode = 0, math_mode = 0;

extern "C" {
int cublasCreate_v2(void** handle) {
  *handle = malloc(8);
  return 0;
}
int cublasDestroy_v2(void*) { return 0; }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasGetStream_v2(void*, void** stream) {
  *stream = nullptr;
  return 0;
}
int cublasSetMathMode(void*, int mode) {
  math_mode = mode;
  return 0;
}
int cublasGetMathMode(void*, int* mode) {
  *mode = math_mode;
  return 0;
}
int cublasSetPointerMode_v2(void*, int mode) {
  pointer_mode = mode;
  return 0;
}
int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = pointer_mode;
  return 0;
}
int cublasSetWorkspace_v2(void*, void*, size_t) { return 0; }
int cublasGetVersion_v2(void*, int* version) {
  *version = 130000;
  return 0;
}

#define GEMM(name, type, T)                                                                      \
  int name(void*, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, int lda,      \
           const T* b, int ldb, const T* beta, T* c, int ldc) {                                  \
    gemm(type, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                            \
    return 0;                                                                                    \
  }
GEMM(cublasSgemm_v2, FLOAT, float)
GEMM(cublasDgemm_v2, DOUBLE, double)
GEMM(cublasCgemm_v2, COMPLEX, C)
GEMM(cublasZgemm_v2, DOUBLE_COMPLEX, Z)

#define STRIDED(name, type, T)                                                                   \
  int name(void*, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, int lda,      \
           long long sa, const T* b, int ldb, long long sb, const T* beta, T* c, int ldc,        \
           long long sc, int count) {                                                            \
    for (int i = 0; i < count; i++)                                                              \
      gemm(type, ta, tb, m, n, k, alpha, a + i * sa, lda, b + i * sb, ldb, beta, c + i * sc,     \
           ldc);                                                                                 \
    return 0;                                                                                    \
  }
STRIDED(cublasSgemmStridedBatched, FLOAT, float)
STRIDED(cublasDgemmStridedBatched, DOUBLE, double)
STRIDED(cublasCgemmStridedBatched, COMPLEX, C)
STRIDED(cublasZgemmStridedBatched, DOUBLE_COMPLEX, Z)

#define BATCHED(name, type, T)                                                                   \
  int name(void*, int ta, int tb, int m, int n, int k, const T* alpha, const T** a, int lda,     \
           const T** b, int ldb, const T* beta, T** c, int ldc, int count) {                     \
    for (int i = 0; i < count; i++)                                                              \
      gemm(type, ta, tb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc);                 \
    return 0;                                                                                    \
  }
BATCHED(cublasSgemmBatched, FLOAT, float)
BATCHED(cublasDgemmBatched, DOUBLE, double)
BATCHED(cublasCgemmBatched, COMPLEX, C)
BATCHED(cublasZgemmBatched, DOUBLE_COMPLEX, Z)

int cublasGemmEx(void*, int ta, int tb, int m, int n, int k, In alpha, In a, int type, int lda,
                 In b, int, int ldb, In beta, void* c, int, int ldc, int, int) {
  gemm(type, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return 0;
}
int cublasSgemmEx(void*, int ta, int tb, int m, int n, int k, const float* alpha, In a, int type,
                  int lda, In b, int, int ldb, const float* beta, void* c, int, int ldc) {
  gemm(type, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return 0;
}
int cublasGemmStridedBatchedEx(void*, int ta, int tb, int m, int n, int k, In alpha, In a,
                               int type, int lda, long long sa, In b, int, int ldb, long long sb,
                               In beta, void* c, int, int ldc, long long sc, int count, int, int) {
  const int size = size_of(type);
  for (long long i = 0; i < count; i++)
    gemm(type, ta, tb, m, n, k, alpha, (const char*)a + i * sa * size, lda,
         (const char*)b + i * sb * size, ldb, beta, (char*)c + i * sc * size, ldc);
  return 0;
}

#define DOT(name, T, F)                                                                          \
  int name(void*, int n, const T* x, int by_x, const T* y, int by_y, T* result) {                \
    T sum = 0;                                                                                   \
    for (int i = 0; i < n; i++) sum += F(x[i * by_x]) * y[i * by_y];                             \
    *result = sum;                                                                               \
    return 0;                                                                                    \
  }
DOT(cublasSdot_v2, float, )
DOT(cublasDdot_v2, double, )
DOT(cublasCdotu_v2, C, )
DOT(cublasZdotu_v2, Z, )
DOT(cublasCdotc_v2, C, conjugated)
DOT(cublasZdotc_v2, Z, conjugated)

#define GEMV(name, T)                                                                            \
  int name(void*, int op, int m, int n, const T* alpha, const T* a, int lda, const T* x,         \
           int by_x, const T* beta, T* y, int by_y) {                                            \
    int rows = op ? n : m, columns = op ? m : n;                                                 \
    for (int i = 0; i < rows; i++) {                                                             \
      T sum = 0;                                                                                 \
      for (int j = 0; j < columns; j++) sum += at(a, op, i, j, lda) * x[j * by_x];               \
      T& to = y[i * by_y];                                                                       \
      to = *beta == T(0) ? *alpha * sum : *alpha * sum + *beta * to;                             \
    }                                                                                            \
    return 0;                                                                                    \
  }
GEMV(cublasSgemv_v2, float)
GEMV(cublasDgemv_v2, double)
GEMV(cublasCgemv_v2, C)
GEMV(cublasZgemv_v2, Z)
}
