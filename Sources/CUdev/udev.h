// libudev as the Swift modules see it. _GNU_SOURCE as in CLinux: both modules must see the same libc types.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <libudev.h>
