// What the files of the driver's interface share: its result codes where the runtime has another, and calls that lead to the runtime's.
#ifndef REDOUBT_CUDART_DRIVER_H
#define REDOUBT_CUDART_DRIVER_H

#include "cudart/runtime.h"

typedef int DriverDevice;

#define DRIVER_INVALID_CONTEXT cudaErrorDeviceUninitialized // CUDA_ERROR_INVALID_CONTEXT
#define DRIVER_NOT_FOUND cudaErrorSymbolNotFound            // CUDA_ERROR_NOT_FOUND

CudaError driver_code(CudaError error);               // the driver has no codes for some of the runtime's errors
Context *context_primary(Runtime *runtime);           // driver_context.c
void *driver_function(const char *name, int version); // as programs of that version of CUDA mean it; NULL: there is none

EXPORT CudaError cuDeviceGet(DriverDevice *device, int ordinal);
EXPORT CudaError cudaDeviceSynchronize(void);
EXPORT CudaError cudaDeviceReset(void);

#endif
