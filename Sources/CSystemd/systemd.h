// libsystemd as the Swift modules see it. _GNU_SOURCE as in CLinux: both modules must see the same libc types.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
