// Device printf: every conversion, in the order of the calls, between the host's own lines.
#include "check.h"
#include <cstring>
#include <unistd.h>

__global__ void conversions(const char *text) {
  printf("[%d|%5d|%-5d|%05d|%+d]\n", -7, 42, 42, 42, 42);
  printf("[%u|%x|%X|%#x|%o]\n", 4000000000u, 0xbeefu, 0xbeefu, 255u, 8u);
  printf("[%lld|%llu|%llx|%ld]\n", -1234567890123ll, 18446744073709551615ull, 0x123456789abcdefull, 5000000000l);
  printf("[%f|%.2f|%8.3f|%e|%g]\n", 1.5, 2.345f, -3.14159, 12345.678, 0.0001);
  printf("[%c|%s|%10s|%-4s|%%]\n", 'x', "constant", "right", "l");
  printf("[%s|%*d|%.*f]\n", text, 6, 9, 3, 2.0);
  printf("[%hd|%hhd|%zu|%p]\n", (short)-3, (signed char)-4, sizeof(int), (void *)0);
  printf("plain\n");
}

__global__ void ordered() {
  if (threadIdx.x == 0) printf("block %d\n", blockIdx.x);
}

__global__ void returns(int *out) { out[0] = printf("%d %d\n", 1, 2), out[1] = printf("none\n"); }

static const char expected[] = "before\n"
                               "[-7|   42|42   |00042|+42]\n"
                               "[4000000000|beef|BEEF|0xff|10]\n"
                               "[-1234567890123|18446744073709551615|123456789abcdef|5000000000]\n"
                               "[1.500000|2.35|  -3.142|1.234568e+04|0.0001]\n"
                               "[x|constant|     right|l   |%]\n"
                               "[from the device|     9|2.000]\n"
                               "[-3|-4|4|(nil)]\n"
                               "plain\n"
                               "between\n"
                               "block 0\n"
                               "1 2\n"
                               "none\n"
                               "after\n";

__device__ char message[] = "from the device";

int main() {
  char name[] = "printing-XXXXXX";
  int file = mkstemp(name), saved = dup(1);
  unlink(name);
  std::fflush(stdout);
  dup2(file, 1);
  std::printf("before\n");
  char *text;
  CHECK(cudaGetSymbolAddress((void **)&text, message));
  conversions<<<1, 1>>>(text);
  LAUNCHED();
  std::printf("between\n");
  ordered<<<1, 40>>>();
  int *out = device_array<int>(2), counts[2];
  returns<<<1, 1>>>(out);
  LAUNCHED();
  std::printf("after\n");
  std::fflush(stdout);
  dup2(saved, 1);
  char seen[2048] = {};
  ssize_t bytes = pread(file, seen, sizeof seen - 1, 0);
  EXPECT(bytes == (ssize_t)std::strlen(expected));
  EXPECT(!std::strcmp(seen, expected));
  if (std::strcmp(seen, expected)) std::fprintf(stderr, "%s", seen);
  host_copy(counts, out, 2);
  EXPECT(counts[0] == 2 && counts[1] == 0);
  return verdict();
}
