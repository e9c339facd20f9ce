// The functional machine's tests of the same name, on this machine: programs behave alike on both.
#define TEST_ON_SIMT
#include "machine/functional/test_system.c"
