// Parts of the C++ library as curfewd needs them. The linker takes from the library's archive only what is missing, so
// what is defined here is not taken, nor the tens of KB it would bring. Nothing throws: what the library cannot do
// ends in abort(). Only where that archive is linked, in Embedded Swift's build.
#ifdef CURFEW_EMBEDDED
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

// Those of the library throw, and throwing brings the unwinder.
void *operator new(std::size_t size) {
    if (void *memory = std::malloc(size)) return memory;
    std::abort();
}
void *operator new(std::size_t size, std::align_val_t alignment) {
    // aligned_alloc() wants a multiple of it.
    const auto step = static_cast<std::size_t>(alignment);
    if (void *memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
    std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace std {
void __throw_bad_alloc() { std::abort(); }
void __throw_bad_array_new_length() { std::abort(); }
void __throw_length_error(const char *) { std::abort(); }
void __throw_logic_error(const char *) { std::abort(); }
void __throw_out_of_range_fmt(const char *, ...) { std::abort(); }

// The library's is fast with tables of 24 KB. toml++ checks the floats of a file with it, and no key takes a float.
from_chars_result from_chars(const char *first, const char *last, double &value, chars_format) noexcept {
    const std::string text(first, last);
    char *end = nullptr;
    errno = 0;
    const double read = std::strtod(text.c_str(), &end);
    const char *stop = first + (end - text.c_str());
    if (stop == first) return {first, errc::invalid_argument};
    // Not where the nearest number is a small one.
    if (errno == ERANGE && (read == 0 || std::isinf(read))) return {stop, errc::result_out_of_range};
    value = read;
    return {stop, {}};
}

// From here, not from the library: there it comes with exceptions.
template class basic_string<char>;
} // namespace std

extern "C" {
[[noreturn]] void __cxa_pure_virtual() { std::abort(); }
// Named by the unwind tables of the library's own code; called while something is thrown.
[[noreturn]] void __gxx_personality_v0() { std::abort(); }
}

namespace __gnu_cxx {
// The library's says what was thrown, and brings a demangler of 60 KB.
[[noreturn]] void __verbose_terminate_handler() { std::abort(); }
} // namespace __gnu_cxx
#endif
