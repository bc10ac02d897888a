#!/usr/bin/env bash
# How the daemon is built for arm64 on a machine of another kind. To be sourced after debian.sh.
#
# Embedded Swift has a standard library for bare aarch64; what Linux adds to that is C: headers and libraries of Debian
# 12, which Debian 13 and later can run. They are unpacked into a folder, which the functions take.

arm64_triple() { printf aarch64-none-none-elf; }
# The folder, unless another is given.
arm64_daemon_folder() { printf '%s/.build/sysroot-arm64' "$PWD"; }
# arm64_sysroot FOLDER: where the headers and libraries are.
arm64_sysroot() { printf '%s/root' "$1"; }
# arm64_archive FOLDER NAME: a static library of the compiler's.
arm64_archive() { printf '%s/usr/lib/gcc/aarch64-linux-gnu/12/%s' "$(arm64_sysroot "$1")" "$2"; }

# json_array WORD...
json_array() {
    local IFS=,
    printf '[%s]' "$*"
}

# arm64_toolset SYSROOT: a SwiftPM toolset. For the compilers this is Linux on arm64, whatever Swift's own name for it.
arm64_toolset() {
    local target=--target=aarch64-linux-gnu root=--sysroot=$1
    local headers=$1/usr/include swift=()
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

# unpack_arm64_daemon FOLDER: what the daemon is built with.
unpack_arm64_daemon() {
    debian_root "$1" bookworm arm64 libc6-dev libstdc++-12-dev libsystemd-dev libudev-dev libjansson-dev \
        libtomlplusplus-dev
    arm64_toolset "$(arm64_sysroot "$1")" >"$1/toolset.json"
}

# arm64_daemon_options FOLDER: what `swift build` is to be told, a word a line.
arm64_daemon_options() {
    printf '%s\n' --triple "$(arm64_triple)" --toolset "$1/toolset.json" \
        --pkg-config-path "$(arm64_sysroot "$1")/usr/lib/aarch64-linux-gnu/pkgconfig"
}

# arm64_daemon_built_with FOLDER: the compiler and the packages, by their versions, a line each.
arm64_daemon_built_with() {
    swiftc --version 2>/dev/null | sed -n 's/.*\(Swift version .*\)/toolchain \1/p'
    debian_packages "$1"
}
