// What the files of the driver's interface share: its result codes where the runtime has another, and calls that lead to the runtime's.
#ifndef REDOUBT_CUDART_DRIVER_H
#define REDOUBT_CUDART_DRIVER_H

#include "cudart/runtime.h"

typedef int DriverDevice;

#define DRIVER_INVALID_CONTEXT cudaErrorDeviceUninitialized // CUDA_ERROR_INVALID_CONTEXT
#define DRIVER_NOT_FOUND cudaErrorSymbolNotFound            // CUDA_ERROR_NOT_FOUND

EXPORT CudaError cuDeviceGet(DriverDevice *device, int ordinal);
EXPORT CudaError cudaDeviceSynchronize(void);

#endif
