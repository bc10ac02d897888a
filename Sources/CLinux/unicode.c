// What Swift's String asks of Unicode's tables, answered without them: they are 35 KB, and the linker takes from their
// archive only what is missing. Names, paths and messages are bytes to the daemon, as they are to the kernel: strings
// are the same where their scalars are, whatever canonical equivalence says, and every scalar is a character of its
// own. Comparing and hashing ask the same questions, so they agree. Only in Embedded Swift's build, which links that
// archive.
#ifdef CURFEW_EMBEDDED
#include <stdbool.h>
#include <stdint.h>

// Neither decomposed nor composed nor reordered.
uint16_t _swift_stdlib_getNormData(uint32_t scalar) {
    (void)scalar;
    return 0;
}
uint32_t _swift_stdlib_getComposition(uint32_t first, uint32_t second) {
    (void)first, (void)second;
    return UINT32_MAX;
}
// The entry of U+0000, which is never looked up: no other scalar takes it for its own.
uint32_t _swift_stdlib_getDecompositionEntry(uint32_t scalar) {
    (void)scalar;
    return 0;
}
static const uint8_t no_decompositions[1];
const uint8_t *const _swift_stdlib_nfd_decompositions = no_decompositions;

// "Any": a boundary before and after.
uint8_t _swift_stdlib_getGraphemeBreakProperty(uint32_t scalar) {
    (void)scalar;
    return UINT8_MAX;
}
bool _swift_stdlib_isExtendedPictographic(uint32_t scalar) {
    (void)scalar;
    return false;
}
bool _swift_stdlib_isInCB_Consonant(uint32_t scalar) {
    (void)scalar;
    return false;
}
#endif
