// An app that uploads: it works in small pieces while it is in front, and when it goes to the background it asks for
// time to finish. When that time runs out, it stops where it is and goes on when it is back.
//
//     cc -I.. -o uploader uploader.c ../curfew.c
//     curfew try -- ./uploader
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>

#include "curfew.h"

struct uploader {
    int pieces_left;
    bool paused;
    int64_t task;  // 0: none
};

static void end_task(struct curfew *app, struct uploader *uploader) {
    curfew_end_background_task(app, uploader->task);
    uploader->task = 0;
}

static enum curfew_answer did_enter_background(struct curfew *app, double deadline, void *context) {
    struct uploader *uploader = context;
    (void)deadline;
    if (uploader->pieces_left == 0) return CURFEW_HANDLED;
    int error = curfew_begin_background_task(app, "upload", NULL, &uploader->task);
    if (error != 0) printf("no time to go on: %s\n", curfew_strerror(error));
    uploader->paused = error != 0;
    return CURFEW_HANDLED;
}

static enum curfew_answer background_task_will_expire(
    struct curfew *app, int64_t task, const char *name, double deadline, void *context) {
    struct uploader *uploader = context;
    (void)task;
    printf("%s expires in %.1f s, %d pieces are left\n", name, deadline, uploader->pieces_left);
    uploader->paused = true;
    end_task(app, uploader);
    return CURFEW_HANDLED;
}

static enum curfew_answer will_enter_foreground(struct curfew *app, double deadline, void *context) {
    struct uploader *uploader = context;
    (void)deadline;
    uploader->paused = false;
    end_task(app, uploader);
    return CURFEW_HANDLED;
}

static const struct curfew_delegate delegate = {
    .did_enter_background = did_enter_background,
    .background_task_will_expire = background_task_will_expire,
    .will_enter_foreground = will_enter_foreground,
};

int main(void) {
    struct uploader uploader = {.pieces_left = 600};
    struct curfew *app;
    int error = curfew_open(&app, &delegate, &uploader);
    if (error != 0) {
        fprintf(stderr, "uploader: %s\n", curfew_strerror(error));
        return 1;
    }
    while (curfew_dispatch(app)) {
        bool busy = uploader.pieces_left > 0 && !uploader.paused;
        struct pollfd entry = {.fd = curfew_fd(app), .events = POLLIN};
        // A piece takes 100 ms here; a real one would wait for its socket in the same poll().
        if (poll(&entry, 1, busy ? 100 : -1) != 0 || !busy) continue;
        uploader.pieces_left--;
        if (uploader.pieces_left > 0) continue;
        printf("done\n");
        end_task(app, &uploader);
    }
    curfew_close(app);
    return 0;
}
