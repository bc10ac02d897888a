// The tests of the C client. Arguments: the names of the tests to run; all when there are none.
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static atomic_int failures;

bool check(bool condition, const char *file, int line, const char *what) {
    if (!condition) {
        printf("%s:%d: failed: %s\n", file, line, what);
        failures++;
    }
    return condition;
}

bool check_number(double value, double wanted, const char *file, int line, const char *what) {
    bool same = value == wanted || (isnan(value) && isnan(wanted));
    if (!same) printf("%s:%d: %s is %.17g, not %.17g\n", file, line, what, value, wanted);
    failures += !same;
    return same;
}

bool check_text(const char *value, const char *wanted, const char *file, int line, const char *what) {
    bool same = value && wanted ? strcmp(value, wanted) == 0 : value == wanted;
    if (!same) printf("%s:%d: %s is\n    %s\nnot\n    %s\n", file, line, what, value ? value : "(none)",
                      wanted ? wanted : "(none)");
    failures += !same;
    return same;
}

bool check_contains(const char *value, const char *part, const char *file, int line, const char *what) {
    bool found = value && strstr(value, part);
    if (!found) printf("%s:%d: %s is\n    %s\nwithout\n    %s\n", file, line, what, value ? value : "(none)", part);
    failures += !found;
    return found;
}

void need(bool condition, const char *what) {
    if (condition) return;
    printf("cannot test: %s\n", what);
    exit(2);
}

static bool is_wanted(const char *name, int count, char **names) {
    for (int i = 1; i < count; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return count <= 1;
}

int main(int argc, char **argv) {
    const struct test *const suites[] = {
        delegate_tests, deferral_tests, message_tests, connection_tests, application_tests, failure_tests,
        thread_tests, memory_tests, fuzz_tests};
    int run = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        for (const struct test *test = suites[i]; test->name; test++) {
            if (!is_wanted(test->name, argc, argv)) continue;
            int before = failures;
            test->run();
            run++;
            if (failures > before) {
                printf("failed: %s\n", test->name);
                failed++;
            }
        }
    }
    printf("%d tests, %d failed\n", run, failed);
    return failed > 0 || run == 0;
}
