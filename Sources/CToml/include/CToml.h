// A C interface over toml++: parse once, walk the tree, free it. Nothing here throws or calls back.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctoml_document ctoml_document;
// Belongs to its document.
typedef struct ctoml_node ctoml_node;

enum {
    CTOML_OTHER, // dates and times
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    CTOML_ARRAY,
    CTOML_TABLE
};

// UTF-8, not terminated by a NUL; belongs to the document.
typedef struct {
    const uint8_t *bytes;
    size_t length;
} ctoml_text;

typedef struct {
    ctoml_text key;
    // Of the key, from 1; 0 where unknown.
    uint32_t line;
    uint32_t column;
    const ctoml_node *value;
} ctoml_entry;

// Never NULL, also for bytes that are not TOML. What nests deeper than 16 arrays or inline tables, or a line with
// more than 256 dots (each may be a table in a table), is an error: trees are freed by recursion.
// Without exceptions an allocation that fails aborts: the caller limits `length`.
ctoml_document *ctoml_parse(const uint8_t *bytes, size_t length);
void ctoml_free(ctoml_document *document);

// NULL where there was an error.
const ctoml_node *ctoml_root(const ctoml_document *document);
ctoml_text ctoml_error_message(const ctoml_document *document);
uint32_t ctoml_error_line(const ctoml_document *document);

int ctoml_type(const ctoml_node *node);
uint32_t ctoml_line(const ctoml_node *node);

// Zero, false or empty for a node of another type.
ctoml_text ctoml_string(const ctoml_node *node);
int64_t ctoml_integer(const ctoml_node *node);
bool ctoml_boolean(const ctoml_node *node);

// Of an array or a table; 0 for the rest.
size_t ctoml_count(const ctoml_node *node);
// NULL beyond the end.
const ctoml_node *ctoml_element(const ctoml_node *array, size_t index);
// At most `capacity` entries of a table, in the order of the file. Returns how many were written.
size_t ctoml_entries(const ctoml_node *table, ctoml_entry *out, size_t capacity);

#ifdef __cplusplus
}
#endif
