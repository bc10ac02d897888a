// The header is C++ as well.
#include "curfew.h"

int main() {
    curfew_delegate delegate{};
    delegate.did_enter_background = [](curfew *, double, void *) { return CURFEW_HANDLED; };
    delegate.message = [](const char *, void *) {};
    curfew_task_options options{};
    options.keep_awake = CURFEW_KEEP_AWAKE_NO;
    curfew *app = nullptr;
    int64_t task = 1;
    if (curfew_open(&app, &delegate, nullptr) != 0 || curfew_is_supervised(app)) return 1;
    bool right = curfew_begin_background_task(app, "a", &options, &task) == 0 && task == 0;
    curfew_close(app);
    return right ? 0 : 1;
}
