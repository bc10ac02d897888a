// What of jansson's interface is a macro, a C array or variadic, as functions Swift can import.
#pragma once
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    JANSSON_OBJECT = JSON_OBJECT,
    JANSSON_ARRAY = JSON_ARRAY,
    JANSSON_STRING = JSON_STRING,
    JANSSON_INTEGER = JSON_INTEGER,
    JANSSON_REAL = JSON_REAL,
    JANSSON_TRUE = JSON_TRUE,
    JANSSON_FALSE = JSON_FALSE,
    JANSSON_NULL = JSON_NULL,
};

static inline int jansson_type(const json_t *value) { return (int)json_typeof(value); }
static inline const char *jansson_error_text(const json_error_t *error) { return error->text; }
static inline json_t *jansson_load(const char *bytes, size_t count, json_error_t *error) {
    return json_loadb(bytes, count, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

// The shortest text that reads back as the same finite double, with a fraction or an exponent so that it stays a float;
// the decimal point of an app's locale becomes a point. Returns its length; `size` of 40 is enough.
static inline int jansson_format_real(char *out, size_t size, double value) {
    char text[64];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    size_t length = 0;
    int isFloat = 0;
    for (const char *c = text; *c && length + 3 < size; c++) {
        int plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+';
        if (plain || *c == 'e') {
            out[length++] = *c;
        } else if (length > 0 && out[length - 1] != '.') {
            out[length++] = '.';
        }
        if (!plain) isFloat = 1;
    }
    if (!isFloat) {
        out[length++] = '.';
        out[length++] = '0';
    }
    out[length] = 0;
    return (int)length;
}
