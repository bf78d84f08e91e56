// The header of CUDA's that CuPy's runtime module includes and no wheel has.
#pragma once
#include <cuda_runtime_api.h>
extern "C" {
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
}
