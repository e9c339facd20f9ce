// Statistics under GPGPU-Sim's names.
#ifndef REDOUBT_CLI_GPGPUSIM_H
#define REDOUBT_CLI_GPGPUSIM_H

#include "machine/machine.h"

// Prints "name = value" lines of one launch, in GPGPU-Sim's words: gpu_sim_* are the launch's, all others count from the start of
// the program, as there. `so_far` includes the launch.
void gpgpusim_launch(const char *kernel, uint32_t number, const Stats *launch, const Stats *so_far, Text *out);
void gpgpusim_markdown(Text *out);

#endif
