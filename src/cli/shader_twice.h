// What the two files of fragment programs share: the comparison of two frames on the GPU.
#ifndef REDOUBT_CLI_SHADER_TWICE_H
#define REDOUBT_CLI_SHADER_TWICE_H

#include "cli/run.h"
#include "machine/fragment/fragment.h"

struct ShaderComparison {
  FragmentParams params;
  const void *pointers[1];
  LaunchRequest request;
};

#endif
