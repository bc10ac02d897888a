// With NDEBUG toml++ turns its assertions into assumptions, and undefined behaviour where they fail.
#undef NDEBUG
#include "CToml.h"

#include <csetjmp>
#include <cstdlib>
#include <cstring>

namespace {
thread_local std::jmp_buf *way_out = nullptr;

// toml++ states in assertions what it believes of its input, and malformed input has proved it wrong. A bad file must
// not end the daemon: parsing is left, the half built tree is lost, and the file counts as bad.
[[noreturn]] void give_up() {
    if (!way_out) std::abort();
    std::longjmp(*way_out, 1);
}

// What toml++ asserts and then handles all the same, with a better message than ours.
constexpr const char *handled[] = {
    "is_bare_key_character(*cp) || is_string_delimiter(*cp)", // "[[[1]]]"
    "!is_value_terminator(*cp)",                              // "a = [}"
    "is_decimal_digit(*cp)",                                  // "a = 1979-05-27Tx:0:0Z"
};
constexpr bool is_handled(const char *assertion) {
    for (auto known : handled) {
        if (__builtin_strcmp(assertion, known) == 0) return true;
    }
    return false;
}
} // namespace

#define TOML_ASSERT(expr) (static_cast<bool>(expr) || is_handled(#expr) ? static_cast<void>(0) : give_up())
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// 16 levels of values times the tables that one dotted key may open bound how deep a tree can get.
#define TOML_MAX_NESTED_VALUES 16
// Without it numbers are read through std::stringstream, and that drags locales and streams into the binary.
#define TOML_FLOAT_CHARCONV 1
#include <toml++/toml.h>

namespace {
constexpr size_t max_dots_in_line = 256;

// toml++ 3.3 has no limit of its own for dotted keys. Dots in strings and comments count too: a key may be quoted, and
// no sane line has that many.
uint32_t line_with_too_many_dots(const uint8_t *bytes, size_t length) {
    uint32_t line = 1;
    size_t dots = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\n') {
            line++;
            dots = 0;
        } else if (bytes[i] == '.' && ++dots > max_dots_in_line) {
            return line;
        }
    }
    return 0;
}

const toml::node &node_of(const ctoml_node *node) { return *reinterpret_cast<const toml::node *>(node); }
const ctoml_node *handle_of(const toml::node &node) { return reinterpret_cast<const ctoml_node *>(&node); }
ctoml_text text_of(std::string_view text) {
    return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}
} // namespace

struct ctoml_document {
    toml::table root;
    std::string error;
    uint32_t error_line = 0;
    bool failed = false;

    void fail(std::string_view message, uint32_t line) {
        failed = true;
        error = message;
        error_line = line;
    }
};

static void parse(ctoml_document &document, std::string_view text) {
    auto result = toml::parse(text);
    if (result) {
        document.root = std::move(result).table();
    } else {
        document.fail(result.error().description(), result.error().source().begin.line);
    }
}

ctoml_document *ctoml_parse(const uint8_t *bytes, size_t length) {
    auto document = new ctoml_document;
    if (auto line = line_with_too_many_dots(bytes, length)) {
        document->fail("a line has more than 256 dots", line);
        return document;
    }
    std::jmp_buf here;
    way_out = &here;
    if (setjmp(here) == 0) {
        parse(*document, std::string_view(reinterpret_cast<const char *>(bytes), length));
    } else {
        document->fail("malformed", 0);
    }
    way_out = nullptr;
    return document;
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_node *ctoml_root(const ctoml_document *document) {
    return document->failed ? nullptr : handle_of(document->root);
}
ctoml_text ctoml_error_message(const ctoml_document *document) { return text_of(document->error); }
uint32_t ctoml_error_line(const ctoml_document *document) { return document->error_line; }

int ctoml_type(const ctoml_node *node) {
    switch (node_of(node).type()) {
    case toml::node_type::string: return CTOML_STRING;
    case toml::node_type::integer: return CTOML_INTEGER;
    case toml::node_type::floating_point: return CTOML_FLOAT;
    case toml::node_type::boolean: return CTOML_BOOLEAN;
    case toml::node_type::array: return CTOML_ARRAY;
    case toml::node_type::table: return CTOML_TABLE;
    default: return CTOML_OTHER;
    }
}
uint32_t ctoml_line(const ctoml_node *node) { return node_of(node).source().begin.line; }

ctoml_text ctoml_string(const ctoml_node *node) {
    auto value = node_of(node).as_string();
    return value ? text_of(value->get()) : ctoml_text{nullptr, 0};
}
int64_t ctoml_integer(const ctoml_node *node) {
    auto value = node_of(node).as_integer();
    return value ? value->get() : 0;
}
bool ctoml_boolean(const ctoml_node *node) {
    auto value = node_of(node).as_boolean();
    return value && value->get();
}

size_t ctoml_count(const ctoml_node *node) {
    if (auto array = node_of(node).as_array()) return array->size();
    if (auto table = node_of(node).as_table()) return table->size();
    return 0;
}
const ctoml_node *ctoml_element(const ctoml_node *node, size_t index) {
    auto array = node_of(node).as_array();
    return array && index < array->size() ? handle_of((*array)[index]) : nullptr;
}
static int by_place(const void *left, const void *right) {
    auto a = static_cast<const ctoml_entry *>(left), b = static_cast<const ctoml_entry *>(right);
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}
size_t ctoml_entries(const ctoml_node *node, ctoml_entry *out, size_t capacity) {
    auto table = node_of(node).as_table();
    if (!table) return 0;
    size_t count = 0;
    for (auto it = table->cbegin(); it != table->cend() && count < capacity; ++it) {
        auto &key = it->first;
        out[count++] = {text_of(key.str()), key.source().begin.line, key.source().begin.column, handle_of(it->second)};
    }
    std::qsort(out, count, sizeof *out, by_place);
    return count;
}
