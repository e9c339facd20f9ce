// A program for campaigns that does not know beforehand how often it launches: it goes on until a flag says that nothing moves
// any more. It says what it does on paper and in files that stay open, and reads one as it goes. Options:
//   -s FILE  a byte more in this file for each start    -i FILE  a number of it is added in every round
//   -o FILE  written round by round                     -e       ends with code 3 if the values are not what they should be
//   -t       a second thread, until the end             -p       a pipe to itself
//   -m FILE  the rounds in memory that is this file     -r FILE  written at the end, in place of another
//   -f       every round begins afresh; there are eight: what was wrong in one is gone in the next, but for what the host knows
//   -a KIND  where results are: d, device memory, copied; u, managed; h, pinned; g, registered; v, a managed variable
//   -v       the kernel prints                          -c       a process of its own does a round, too
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const int n = 192;

// Every element moves one step towards the largest of its neighbours.
__global__ void relax(const int *in, int *out, int *moved, bool prints) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int left = in[i == 0 ? 0 : i - 1], here = in[i], right = in[i == n - 1 ? i : i + 1];
  int top = max(max(left, right) - 1, here);
  if (top != here) *moved = 1;
  out[i] = top;
  if (prints && threadIdx.x % 8 == 0) printf("%d: %d\n", i, top);
}

__managed__ int managed_results[n];

static void *wait_for_ever(void *) {
  for (;;) pause();
}

static int *shared_counter(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, sizeof(int)) != 0) exit(2);
  void *memory = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return static_cast<int *>(memory);
}

struct Options {
  FILE *input = NULL, *output = NULL;
  const char *replaced = NULL;
  int private_rounds = 0, *rounds = &private_rounds;
  bool checks = false, afresh = false, prints = false, forks = false;
  char kind = 'd';
};

static void take_options(Options *options, int argc, char **argv) {
  for (int option; (option = getopt(argc, argv, "s:i:o:r:m:a:cefvtp")) != -1;) {
    int ends[2], starts;
    pthread_t thread;
    switch (option) {
    case 's':
      starts = open(optarg, O_WRONLY | O_CREAT | O_APPEND, 0600);
      if (write(starts, "x", 1) != 1) exit(2);
      close(starts);
      break;
    case 'i': options->input = fopen(optarg, "r"); break;
    case 'o': options->output = fopen(optarg, "w"); break;
    case 'r': options->replaced = optarg; break;
    case 'm': options->rounds = shared_counter(optarg); break;
    case 'a': options->kind = *optarg; break;
    case 'c': options->forks = true; break;
    case 'e': options->checks = true; break;
    case 'f': options->afresh = true; break;
    case 'v': options->prints = true; break;
    case 't': pthread_create(&thread, NULL, wait_for_ever, NULL); break;
    case 'p':
      if (pipe(ends) != 0) exit(2);
    }
  }
}

static void report(const Options *options, int round, const int *values) {
  long sum = 0;
  for (int i = 0; i < n; i++) sum += values[i];
  printf("round %d: %ld\n", round, sum);
  if (round % 2 == 0) fflush(stdout); // some of it is in the file when a fault strikes, some is not
  if (options->output == NULL) return;
  fprintf(options->output, "%d %ld\n", round, sum);
  if (round % 3 == 0) fflush(options->output);
}

static void write_replaced(const char *path, const int *values) {
  char other[4096];
  snprintf(other, sizeof other, "%s.%d", path, static_cast<int>(getpid()));
  FILE *file = fopen(other, "w");
  for (int i = 0; i < n; i++) fprintf(file, "%d\n", values[i]);
  fclose(file);
  rename(other, path);
}

static int *new_results(char kind, size_t bytes) {
  int *results = NULL;
  switch (kind) {
  case 'd': cudaMalloc(&results, bytes); break;
  case 'u': cudaMallocManaged(&results, bytes); break;
  case 'h': cudaMallocHost(&results, bytes); break;
  case 'v': return managed_results;
  default:
    results = static_cast<int *>(aligned_alloc(4096, 4096));
    cudaHostRegister(results, 4096, cudaHostRegisterMapped);
  }
  return results;
}

static void begin(int *values) {
  for (int i = 0; i < n; i++) values[i] = i == 40 ? 8 : i * 7 % 3;
}

// The results of a round. False: there are none.
static bool take(const Options *options, int *host, const int *out) {
  if (options->kind == 'd') return cudaMemcpy(host, out, n * sizeof *host, cudaMemcpyDeviceToHost) == cudaSuccess;
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  memcpy(host, out, n * sizeof *host);
  return true;
}

// Its results are nobody's, its time is not counted.
static void fork_one(const int *in, int *out, int *flag) {
  pid_t pid = fork();
  if (pid == 0) {
    relax<<<n / 64, 64>>>(in, out, flag, false);
    _exit(cudaDeviceSynchronize() == cudaSuccess ? 0 : 5);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid || status != 0) exit(2);
}

int main(int argc, char **argv) {
  Options options;
  take_options(&options, argc, argv);
  int host[n], moved = 1, *in, *out, *flag;
  begin(host);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&flag, sizeof moved);
  out = new_results(options.kind, sizeof host);
  int most = options.afresh ? 8 : 64;
  while ((moved != 0 || options.afresh) && *options.rounds < most) {
    int add = 0;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(flag, 0, sizeof moved);
    relax<<<n / 64, 64>>>(in, out, flag, options.prints);
    if (!take(&options, host, out)) return 4;
    if (!options.afresh) cudaMemcpy(&moved, flag, sizeof moved, cudaMemcpyDeviceToHost);
    if (options.input != NULL && fscanf(options.input, "%d", &add) == 1) host[0] += add;
    report(&options, ++*options.rounds, host);
    if (options.forks && *options.rounds == 1) fork_one(in, out, flag);
    if (options.afresh) begin(host);
  }
  if (options.replaced != NULL) write_replaced(options.replaced, host);
  for (int i = 0; i < n && options.checks; i++) {
    if (host[i] < 0 || host[i] > 64) return 3;
  }
  return 0;
}
