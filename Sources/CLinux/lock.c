#include "CLinux.h"

struct linux_lock_order *linux_order_lock(
    const char *address, const char *manager, const char *what, const char *why, const char *mode) {
    struct linux_lock_order *order = calloc(1, sizeof *order);
    if (!order) return NULL;
    order->socket = -1;
    order->address = strdup(address);
    order->manager = strdup(manager);
    order->what = strdup(what);
    order->why = strdup(why);
    order->mode = strdup(mode);
    if (order->address && order->manager && order->what && order->why && order->mode) return order;
    linux_end_lock_order(order);
    errno = ENOMEM;
    return NULL;
}

void linux_end_lock_order(struct linux_lock_order *order) {
    if (order->socket >= 0) close(order->socket);
    free(order->address);
    free(order->manager);
    free(order->what);
    free(order->why);
    free(order->mode);
    free(order);
}

void linux_answer_lock(const struct linux_lock_order *order, int error, const char *text, int descriptor) {
    struct linux_lock_answer answer = {.error = error};
    if (error != 0 && text) snprintf(answer.text, sizeof answer.text, "%s", text);
    // The loop may ask no more: then the lock goes with this thread's own copy.
    (void)linux_packet_send(order->socket, &answer, sizeof answer, &descriptor, descriptor >= 0 ? 1 : 0);
}

bool linux_hear_lock(int socket, struct linux_lock_answer *answer, int *descriptor) {
    size_t count = 1;
    bool lost = false;
    *descriptor = -1;
    ssize_t length = linux_packet_receive(socket, answer, sizeof *answer, descriptor, &count, &lost, false);
    if (length != sizeof *answer) {
        if (length >= 0) errno = EPIPE;
        return false;
    }
    answer->text[sizeof answer->text - 1] = 0;
    if (count == 0) *descriptor = -1;
    if (answer->error == 0 && *descriptor < 0) answer->error = lost ? EMFILE : EPROTO;
    return true;
}
