// What NVRTC defines before a kernel's first line, for g++.
#pragma once
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#include <vector_types.h>
// After it, as its macros say what g++ does not know.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __restrict__
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

// -- threads: see device.cpp ----------------------------------------------------------------------

struct HcPlace {
  unsigned x, y, z;
};
extern "C" {
extern HcPlace hc_threadIdx, hc_blockIdx, hc_blockDim, hc_gridDim;
extern char hc_shared[];
void hc_syncthreads();
void hc_trap();
}
#define threadIdx hc_threadIdx
#define blockIdx hc_blockIdx
#define blockDim hc_blockDim
#define gridDim hc_gridDim
#define warpSize 32
inline void __syncthreads() { hc_syncthreads(); }
inline void __syncwarp(unsigned = 0) { hc_syncthreads(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __trap() { hc_trap(); }
template <class T> T __ldg(const T* p) { return *p; }

// Calls a kernel with the arguments that the driver was given pointers to.
template <class... A, size_t... I>
void hc_call_(void (*kernel)(A...), void** p, std::index_sequence<I...>) {
  kernel(*(std::decay_t<A>*)p[I]...);
}
template <class... A> void hc_call(void (*kernel)(A...), void** p) {
  hc_call_(kernel, p, std::index_sequence_for<A...>{});
}

// -- atomics: one thread at a time anyway ---------------------------------------------------------

#define HC_ATOMIC(name, T, made) \
  inline T name(T* p, T v) {     \
    T old = *p;                  \
    *p = (made);                 \
    return old;                  \
  }
#define HC_ATOMICS(T) HC_ATOMIC(atomicAdd, T, old + v) HC_ATOMIC(atomicExch, T, v)
HC_ATOMICS(int)
HC_ATOMICS(unsigned)
HC_ATOMICS(unsigned long long)
HC_ATOMICS(float)
HC_ATOMICS(double)
#define HC_INTEGER_ATOMICS(T)                     \
  HC_ATOMIC(atomicMax, T, old > v ? old : v)      \
  HC_ATOMIC(atomicMin, T, old < v ? old : v)      \
  HC_ATOMIC(atomicAnd, T, old & v)                \
  HC_ATOMIC(atomicOr, T, old | v)                 \
  HC_ATOMIC(atomicXor, T, old ^ v)                \
  HC_ATOMIC(atomicSub, T, old - v)                \
  inline T atomicCAS(T* p, T expected, T v) {     \
    T old = *p;                                   \
    if (old == expected) *p = v;                  \
    return old;                                   \
  }
HC_INTEGER_ATOMICS(int)
HC_INTEGER_ATOMICS(unsigned)
HC_INTEGER_ATOMICS(unsigned long long)
HC_INTEGER_ATOMICS(long long)
inline unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v) {
  unsigned short old = *p;
  if (old == expected) *p = v;
  return old;
}

// -- bits -----------------------------------------------------------------------------------------

#define HC_BITS(name, A, B)      \
  inline B name(A a) {           \
    B b;                         \
    memcpy(&b, &a, sizeof b);    \
    return b;                    \
  }
HC_BITS(__float_as_int, float, int)
HC_BITS(__int_as_float, int, float)
HC_BITS(__float_as_uint, float, unsigned)
HC_BITS(__uint_as_float, unsigned, float)
HC_BITS(__double_as_longlong, double, long long)
HC_BITS(__longlong_as_double, long long, double)
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }

// -- functions that are CUDA's alone --------------------------------------------------------------

inline double rsqrt(double x) { return 1 / ::sqrt(x); }
inline float rsqrtf(float x) { return 1 / ::sqrtf(x); }
inline float rsqrt(float x) { return 1 / ::sqrtf(x); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline double sinpi(double x) { return ::sin(M_PI * x); }
inline double cospi(double x) { return ::cos(M_PI * x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline double exp10(int x) { return ::pow(10.0, x); }
inline double normcdf(double x) { return 0.5 * erfc(-x / M_SQRT2); }

#define HC_EXTREMES(T)                             \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
HC_EXTREMES(int)
HC_EXTREMES(unsigned)
HC_EXTREMES(long)
HC_EXTREMES(unsigned long)
HC_EXTREMES(long long)
HC_EXTREMES(unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
template <class A, class B>
using HcMixed = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> &&
                                     std::is_arithmetic_v<B>,
                                 std::common_type_t<A, B>>;
template <class A, class B> HcMixed<A, B> min(A a, B b) {
  return min((std::common_type_t<A, B>)a, (std::common_type_t<A, B>)b);
}
template <class A, class B> HcMixed<A, B> max(A a, B b) {
  return max((std::common_type_t<A, B>)a, (std::common_type_t<A, B>)b);
}

// CUDA's are overloaded outside of any namespace.
using std::abs, std::isfinite, std::isinf, std::isnan, std::signbit;
using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh;
using std::cbrt, std::ceil, std::copysign, std::cos, std::cosh, std::erf, std::erfc;
using std::exp, std::exp2, std::expm1, std::fabs, std::floor, std::fma, std::fmax, std::fmin;
using std::fmod, std::frexp, std::hypot, std::ldexp, std::lgamma, std::log, std::log10;
using std::log1p, std::log2, std::modf, std::nextafter, std::pow, std::remainder, std::rint;
using std::round, std::sin, std::sinh, std::sqrt, std::tan, std::tanh, std::tgamma, std::trunc;
