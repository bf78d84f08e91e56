// A CUDA runtime and driver whose device is this processor: enough of both for CuPy's own wheel.
//
// Device memory is host memory, filled with 0xA5 when it is given out. A module is a shared library
// that kernel_compiler.py made of a kernel's source; a launch calls its function for each thread.
// What is undefined on a card is so here: an error of a kernel (__trap) is for good, and surfaces at
// the next call.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <ucontext.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

struct Place {
  unsigned x, y, z;
};
struct Trap {};

extern "C" {
Place hc_threadIdx, hc_blockIdx, hc_blockDim, hc_gridDim;
char hc_shared[1 << 20];
long hc_launches = 0, hc_waits = 0, hc_copies = 0;
}

static std::map<uintptr_t, size_t> blocks;  // address -> bytes
static size_t used = 0, room = (size_t)8 << 30;
static bool lost = false;  // a kernel has failed: nothing works any more

static cudaError_t state() { return lost ? cudaErrorLaunchFailure : cudaSuccess; }
static size_t rounded(size_t n) { return (n + 511) / 512 * 512 + 512; }

// -- runtime: memory ------------------------------------------------------------------------------

extern "C" {
cudaError_t cudaMalloc(void** p, size_t n) {
  if (lost) return state();
  if (used + n > room) return cudaErrorMemoryAllocation;
  *p = aligned_alloc(512, rounded(n));
  memset(*p, 0xA5, n);
  blocks[(uintptr_t)*p] = n;
  used += n;
  return cudaSuccess;
}
cudaError_t cudaMallocManaged(void** p, size_t n, unsigned) { return cudaMalloc(p, n); }
cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t) { return cudaMalloc(p, n); }
cudaError_t cudaFree(void* p) {
  auto found = blocks.find((uintptr_t)p);
  if (found != blocks.end()) {
    used -= found->second;
    blocks.erase(found);
    free(p);
  }
  return state();
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
cudaError_t cudaHostAlloc(void** p, size_t n, unsigned) {
  *p = aligned_alloc(512, rounded(n));
  return state();
}
cudaError_t cudaFreeHost(void* p) {
  free(p);
  return state();
}
cudaError_t cudaMemGetInfo(size_t* left, size_t* all) {
  *left = room - used;
  *all = room;
  return state();
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind) {
  if (lost) return state();
  hc_copies++;
  memmove(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, n, kind);
}
cudaError_t cudaMemset(void* to, int value, size_t n) {
  if (lost) return state();
  memset(to, value, n);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t n, cudaStream_t) {
  return cudaMemset(to, value, n);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* p) {
  memset(found, 0, sizeof *found);
  auto block = blocks.upper_bound((uintptr_t)p);
  bool device = false;
  if (block != blocks.begin()) {
    --block;
    device = (uintptr_t)p < block->first + block->second + 1;
  }
  found->type = device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  found->devicePointer = device ? (void*)p : nullptr;
  return cudaSuccess;
}

// -- runtime: device, streams, events -------------------------------------------------------------

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* n) {
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return state(); }
const char* cudaGetErrorName(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return "cudaErrorMemoryAllocation";
  return error == cudaErrorLaunchFailure ? "cudaErrorLaunchFailure" : "cudaErrorUnknown";
}
const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return "out of memory";
  return error == cudaErrorLaunchFailure ? "unspecified launch failure" : "unknown error";
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrMaxGridDimX: *value = 2147483647; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    default: *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* found, int) {
  memset(found, 0, sizeof *found);
  strcpy(found->name, "this processor, as a CUDA device (kernels compiled by g++)");
  found->major = 9;
  found->multiProcessorCount = 4;
  found->totalGlobalMem = room;
  found->warpSize = 32;
  found->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  hc_waits++;
  return state();
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = (cudaStream_t)malloc(8);
  return state();
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return cudaStreamCreate(s); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return state(); }
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  hc_waits++;
  return state();
}
cudaError_t cudaStreamQuery(cudaStream_t) { return state(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return state(); }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return state();
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = (cudaEvent_t)calloc(1, 16);
  return state();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return state(); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  *(double*)event = std::chrono::duration<double, std::milli>(now).count();
  return state();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return state(); }
cudaError_t cudaEventQuery(cudaEvent_t) { return state(); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = *(double*)to - *(double*)from;
  return state();
}

// -- driver ---------------------------------------------------------------------------------------

CUresult cuGetErrorName(CUresult, const char** text) {
  *text = "CUDA_ERROR_LAUNCH_FAILED";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "unspecified launch failure";
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = (CUcontext)1;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream, CUcontext* context) { return cuCtxGetCurrent(context); }

// How a kernel is called: once for everything, where no thread asks for its place; thread by
// thread; or with a stack for each thread, where they wait for each other.
enum { AT_ONCE = 0, ONE_BY_ONE = 1, TOGETHER = 2 };
struct Kernel {
  void (*call)(void**);
  int mode;
};

CUresult cuModuleLoadData(CUmodule* module, const void* path) {
  void* library = dlopen((const char*)path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "hostcuda: %s\n", dlerror());
    return CUDA_ERROR_INVALID_IMAGE;
  }
  *module = (CUmodule)library;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  auto call = (void (*)(void**))dlsym((void*)module, (std::string(name) + "__host").c_str());
  auto mode = (int*)dlsym((void*)module, "hc_mode");
  if (!call || !mode) return CUDA_ERROR_NOT_FOUND;
  *function = (CUfunction) new Kernel{call, *mode};
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, CUfunction, int, size_t) {
  *n = 1;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction, CUoccupancyB2DSize,
                                          size_t, int) {
  *grid = 4;
  *block = 128;
  return CUDA_SUCCESS;
}

void hc_trap() { throw Trap(); }
}

// -- threads that wait for each other -------------------------------------------------------------

static const size_t STACK = 65536;
static ucontext_t scheduler;
static std::vector<ucontext_t> threads;
static std::vector<char*> stacks;
static std::vector<char> finished, waiting;
static unsigned current;
static Kernel* running;
static void** arguments;

static void call_once() {
  try {
    running->call(arguments);
  } catch (Trap) {
    lost = true;
  }
}

static void thread_body() {
  call_once();
  finished[current] = 1;
  swapcontext(&threads[current], &scheduler);
}

// A warp's threads go on in turns from one of its waits to the next: all of them are there then.
extern "C" void hc_syncwarp() { swapcontext(&threads[current], &scheduler); }
extern "C" void hc_syncthreads() {
  waiting[current] = 1;  // until all of the block are
  hc_syncwarp();
}

static Place place_of(unsigned thread) {
  unsigned x = hc_blockDim.x, y = hc_blockDim.y;
  return Place{thread % x, thread / x % y, thread / (x * y)};
}

static void start_threads(unsigned n) {
  if (threads.size() < n) threads.resize(n);
  while (stacks.size() < n) stacks.push_back((char*)malloc(STACK));
  finished.assign(n, 0);
  waiting.assign(n, 0);
  for (unsigned t = 0; t < n; t++) {
    getcontext(&threads[t]);
    threads[t].uc_stack.ss_sp = stacks[t];
    threads[t].uc_stack.ss_size = STACK;
    threads[t].uc_link = &scheduler;
    makecontext(&threads[t], thread_body, 0);
  }
}

static void run_block_together(unsigned n) {
  start_threads(n);
  for (bool any = true; any;) {
    bool running = any = false;
    for (unsigned t = 0; t < n; t++) {
      if (!finished[t] && !waiting[t]) {
        current = t;
        hc_threadIdx = place_of(t);
        swapcontext(&scheduler, &threads[t]);
      }
      any = any || !finished[t];
      running = running || (!finished[t] && !waiting[t]);
    }
    if (!running) waiting.assign(n, 0);
  }
}

static void run_block(unsigned n) {
  if (running->mode == TOGETHER) return run_block_together(n);
  for (unsigned t = 0; t < n && !lost; t++) {
    hc_threadIdx = place_of(t);
    call_once();
  }
}

extern "C" CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned, CUstream,
                                   void** given, void**) {
  if (lost) return CUDA_ERROR_LAUNCH_FAILED;
  hc_launches++;
  running = (Kernel*)function;
  arguments = given;
  if (running->mode == AT_ONCE) gx = gy = gz = bx = by = bz = 1;
  hc_gridDim = {gx, gy, gz};
  hc_blockDim = {bx, by, bz};
  for (unsigned z = 0; z < gz; z++)
    for (unsigned y = 0; y < gy; y++)
      for (unsigned x = 0; x < gx; x++) {
        hc_blockIdx = {x, y, z};
        run_block(bx * by * bz);
      }
  return CUDA_SUCCESS;  // an error of the kernel is heard of later, as on a card
}
