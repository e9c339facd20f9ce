// Vega's own file, as npm delivers it, put into the program's read-only data.
#include "report/report_internal.h"

__asm__(".section .rodata\n"
        ".global vega_js\n"
        ".hidden vega_js\n"
        "vega_js:\n"
        ".incbin \"" VEGA_FILE "\"\n"
        ".byte 0\n"
        ".previous\n");
