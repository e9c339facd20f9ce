// Which Redoubt this is.
#include "cli/cli.h"
#include "commit.h"

const char *version_number(void) { return REDOUBT_VERSION; }
const char *version_commit(void) { return REDOUBT_COMMIT; }
