// Vega, as tools/vega.sh makes it of Debian's files, put into the program's read-only data. Empty: the build found none.
#include "report/report_internal.h"

__asm__(".section .rodata\n"
        ".global vega_js\n"
        ".hidden vega_js\n"
        "vega_js:\n"
        ".incbin \"" VEGA_FILE "\"\n"
        ".byte 0\n"
        ".previous\n");
