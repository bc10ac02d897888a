#!/usr/bin/env bash
# How the daemon is built for arm64 on a machine of another kind. To be sourced after debian.sh.
#
# Embedded Swift has a standard library for bare aarch64; what Linux adds to that is C: headers and libraries of Debian
# 12, which Debian 13 and later can run.

arm64_libraries=(libc6-dev libstdc++-12-dev libsystemd-dev libudev-dev libjansson-dev libtomlplusplus-dev)
arm64_triple=aarch64-none-none-elf
arm64_sysroot=$PWD/.build/sysroot-arm64/root
# shellcheck disable=SC2034  # for deploy/build
arm64_archives=$arm64_sysroot/usr/lib/gcc/aarch64-linux-gnu/12

# json_array WORD...
json_array() {
    local IFS=,
    printf '[%s]' "$*"
}

# A SwiftPM toolset: for the compilers this is Linux on arm64, whatever Swift's own name for it is.
arm64_toolset() {
    local target=--target=aarch64-linux-gnu root=--sysroot=$arm64_sysroot
    local headers=$arm64_sysroot/usr/include swift=()
    local word
    # Swift's own target has no system headers, and is not Linux for the preprocessor.
    for word in $target "$root" "-isystem$headers/aarch64-linux-gnu" "-isystem$headers" -D__linux__=1; do
        swift+=('"-Xcc"' "\"$word\"")
    done
    for word in $target "$root"; do swift+=('"-Xclang-linker"' "\"$word\""); done
    local c="[\"$target\", \"$root\"]"
    printf '{"schemaVersion": "1.0",\n "swiftCompiler": {"extraCLIOptions": %s},\n' "$(json_array "${swift[@]}")"
    printf ' "cCompiler": {"extraCLIOptions": %s},\n "cxxCompiler": {"extraCLIOptions": %s}}\n' "$c" "$c"
}

# prepare_arm64_daemon: sets `target`, what `swift build` is to be told.
prepare_arm64_daemon() {
    debian_root "${arm64_sysroot%/root}" bookworm arm64 "${arm64_libraries[@]}"
    arm64_toolset >"${arm64_sysroot%/root}/toolset.json"
    # shellcheck disable=SC2034  # for deploy/build
    target=(--triple "$arm64_triple" --toolset "${arm64_sysroot%/root}/toolset.json"
        --pkg-config-path "$arm64_sysroot/usr/lib/aarch64-linux-gnu/pkgconfig")
}
