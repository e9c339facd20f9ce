// See image.h.
#include "app/image.h"

#include "base/process.h"

#include <stdlib.h>

bool image_is_marked(pid_t pid) {
  char text[4096];
  process_about(pid, "status", text, sizeof text);
  const char *caught = strstr(text, "\nSigCgt:");
  return caught == NULL || (strtoull(caught + strlen("\nSigCgt:"), NULL, 16) >> (IMAGE_SIGNAL - 1) & 1) != 0;
}
