// capabilities(7) of this process.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <linux/capability.h>

// Keeps those of `kept` (a bit for each number) that it has, and gives up all others, for good and for whatever it may
// exec. -1 and errno.
int linux_keep_capabilities(uint64_t kept);
