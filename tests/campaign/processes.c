// A CUDA program that starts processes in unusual ways: processes FATBIN HOW. It launches "scale" of the fat binary, prints what it copies
// back, and then does HOW:
//   exec         becomes itself once more ("plain")         exec-empty   the same without an environment
//   restart      becomes itself once more if its result is wrong
//   sleep        waits for ever if its result is wrong
//   spawn, vfork, clone   starts itself as a child and waits for it; the same with HOW-true: a program without CUDA
//   thread       a thread forks a child that ends at once
//   adopt        adopts what its children leave behind (a subreaper)
//   close        closes all descriptors before it uses the device, but for standard output; close-all: and that one. Then it opens own.txt
//   plain        ends
//   ignore COMMAND...     no CUDA: executes the command with the signal ignored by which our libraries mark a process (app/image.h)
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 64 };
typedef struct Dim3 {
  uint32_t x, y, z;
} Dim3;
typedef struct Wrapper {
  int32_t magic, version;
  const void *data;
  void *more;
} Wrapper;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int thread_limit, void *tid,
                            void *bid, void *block, void *grid, int *warp_size);
int cudaMalloc(void **pointer, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, void *stream);

static char image[1 << 16];
static char **arguments;
static char *empty[] = {NULL};

// False: the result is wrong.
static int use_device(void) {
  static char stub;
  static Wrapper wrapper = {0x466243B1, 1, image, NULL};
  void **handle = __cudaRegisterFatBinary(&wrapper), *memory = NULL;
  __cudaRegisterFunction(handle, &stub, &stub, "scale", -1, NULL, NULL, NULL, NULL, NULL);
  int count = COUNT, result[COUNT] = {0}, good = 1;
  cudaMalloc(&memory, sizeof result);
  cudaLaunchKernel(&stub, (Dim3){1, 1, 1}, (Dim3){COUNT, 1, 1}, (void *[]){&memory, &count}, 0, NULL);
  int error = cudaMemcpy(result, memory, sizeof result, 2);
  for (int i = 0; i < COUNT; i++) good = good && result[i] == 3 * (i % 4 + 1);
  printf("%d %d %d\n", error, result[0], result[COUNT - 1]);
  fflush(stdout);
  return good;
}

static void become_plain(char **environment) {
  execve("/proc/self/exe", (char *[]){arguments[0], arguments[1], "plain", NULL}, environment);
  _exit(9);
}

static char **child_words(const char *how) {
  static char *plain[] = {"/proc/self/exe", NULL, "plain", NULL}, *nothing[] = {"/bin/true", NULL};
  plain[1] = arguments[1];
  return strstr(how, "-true") == NULL ? plain : nothing;
}

static int in_clone(void *words) {
  char **of = words;
  execve(of[0], of, environ);
  return 9;
}

static void start_child(const char *how) {
  static char stack[1 << 16] __attribute__((aligned(16)));
  char **words = child_words(how);
  pid_t child = -1;
  int status = -1;
  if (strncmp(how, "spawn", 5) == 0) posix_spawn(&child, words[0], NULL, NULL, words, environ);
  else if (strncmp(how, "clone", 5) == 0) child = clone(in_clone, stack + sizeof stack, SIGCHLD | CLONE_VM | CLONE_VFORK, words);
  else child = vfork();
  if (child == 0) {
    execve(words[0], words, environ);
    _exit(9);
  }
  waitpid(child, &status, 0);
  printf("child: %d\n", status);
}

static void *fork_once(void *nothing) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  return nothing;
}

int main(int argc, char **argv) {
  FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL || fread(image, 1, sizeof image, file) == 0) return 9;
  fclose(file);
  arguments = argv;
  const char *how = argv[2];
  if (strcmp(how, "ignore") == 0) {
    const struct {
      void (*handler)(int);
      unsigned long flags;
      void *restorer;
      unsigned long mask;
    } ignored = {.handler = SIG_IGN};
    if (argc < 4 || syscall(SYS_rt_sigaction, 32, &ignored, NULL, sizeof ignored.mask) != 0) return 9;
    execvp(argv[3], &argv[3]);
    return 9;
  }
  if (strcmp(how, "adopt") == 0) prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int i = 0; strncmp(how, "close", 5) == 0 && i < 256; i++) {
    if (i != STDOUT_FILENO || strcmp(how, "close-all") == 0) close(i);
  }
  FILE *own = strncmp(how, "close", 5) == 0 ? fopen("own.txt", "w") : NULL;
  int good = use_device();
  if (own != NULL) fputs("only this\n", own);
  if (strcmp(how, "exec") == 0 || (strcmp(how, "restart") == 0 && !good)) become_plain(environ);
  if (strcmp(how, "exec-empty") == 0) become_plain(empty);
  while (strcmp(how, "sleep") == 0 && !good) pause();
  if (strncmp(how, "spawn", 5) == 0 || strncmp(how, "vfork", 5) == 0 || strncmp(how, "clone", 5) == 0) start_child(how);
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, fork_once, NULL);
    pthread_join(thread, NULL);
    use_device();
  }
  return 0;
}
