#include "CLinux.h"

static int count;
static char **values;

// glibc hands main's arguments to constructors too: Embedded Swift has no CommandLine.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    count = argc;
    values = argv;
}

int linux_argument_count(void) { return count; }
const char *linux_argument(int index) { return index >= 0 && index < count ? values[index] : ""; }
