// A file that is written by a thread: a card that takes a second holds up nothing but that.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Bytes of a file; then another begins.
enum { LINUX_RECORDING_LIMIT = 4 << 20 };

// What is to be written lies in memory of no file (memfd_create(2)), after this.
struct linux_recorder_head {
    // Where in the memory begins what is not in the file yet, and was not given up.
    int64_t begin;
    // How long the file was before that is written to it; negative: none of it is being written.
    int64_t length;
};

struct linux_recording;

// Begins to append the memory from its head's `begin` up to `end` to the file, by a thread, which rings the bell
// (eventfd(2)) when it is done. What a thread before it, of a process that has died, has written of that is taken back
// first. renews: another file begins, and once it is written the one there becomes path.1; on a full disk the file that
// is path.1 makes room for it. hurries: it is sent on its way to the disk, and not
// when the kernel comes round to it. NULL: no thread could be had.
struct linux_recording *linux_record(
    int memory, int64_t end, const char *path, bool renews, bool hurries, int bell);

// Negative: it is under way still; otherwise an errno or 0, and *size is the file's length.
int linux_recorded(const struct linux_recording *recording, int64_t *size);

// To be called when it is over.
void linux_finish_recording(struct linux_recording *recording);

// Gives back the memory from there to there: it is in the file.
void linux_forget_recorded(int memory, int64_t begin, int64_t end);
