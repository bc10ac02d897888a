#!/usr/bin/env bash
# What the scripts in deploy/ share. To be sourced; it finds the package and goes there.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

say() { printf '%s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# The text of a script's own head comment, for --help.
help_of() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }

# "6.3.1" for the Swift in a folder, or nothing.
swift_version_in() {
    [ -x "$1/swift" ] || return 0
    "$1/swift" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1
}

# is_at_least VERSION WANTED: by their first two numbers.
is_at_least() {
    local major minor wanted_major wanted_minor
    IFS=. read -r major minor _ <<<"$1"
    IFS=. read -r wanted_major wanted_minor _ <<<"$2"
    [ "$major" -gt "$wanted_major" ] || { [ "$major" -eq "$wanted_major" ] && [ "${minor:-0}" -ge "$wanted_minor" ]; }
}

# Puts a Swift that is new enough on the PATH, or says what to do.
need_swift() {
    local wanted=6.2 folder version found=""
    local folders=() on_path
    on_path=$(command -v swift || true)
    [ -z "$on_path" ] || folders+=("$(dirname "$on_path")")
    folders+=(/opt/swift/usr/bin "${HOME:-/root}/.local/share/swiftly/bin" /usr/libexec/swift/*/bin
        /usr/libexec/swift/bin /usr/libexec/swift/*/usr/bin /usr/share/swift/usr/bin)
    for folder in "${folders[@]}"; do
        version=$(swift_version_in "$folder")
        [ -n "$version" ] || continue
        if is_at_least "$version" "$wanted"; then
            PATH="$folder:$PATH"
            export PATH
            say "Swift $version in $folder"
            return
        fi
        found="$found $version ($folder)"
    done
    if [ -n "$found" ]; then
        fail "Swift $wanted or newer is needed; found:$found. Install a newer one: https://swift.org/install/linux"
    fi
    fail "Swift $wanted or newer is needed and there is none on the PATH or in /opt/swift." \
        "Install it: https://swift.org/install/linux"
}

# Lists of packages; what is in them is for the scripts to name.
build_packages=(git g++ pkg-config libsystemd-dev libudev-dev libjansson-dev libtomlplusplus-dev)
# shellcheck disable=SC2034  # for deploy/test
test_packages=(dbus libnss-systemd strace iproute2 libglib2.0-bin python3 python3-dbus python3-dbusmock python3-gi
    python3-pytest python3-pytest-xdist python3-venv python3-pip shellcheck umockdev gir1.2-umockdev-1.0)

# What makes the virtual machine of the board tests, and runs it; beside it a QEMU.
board_packages=(python3 mmdebstrap e2fsprogs cpio kmod gzip)
# shellcheck disable=SC2034  # for deploy/test and Tests/BoardTests/image/build: on amd64, with a kernel module to make
board_amd64_packages=("${board_packages[@]}" qemu-system-x86 make gcc gcc-12 libc6-dev xz-utils)

# Swift links with gold where it does not bring a linker of its own; newer Debians have it in a package apart.
command -v ld.gold >/dev/null || build_packages+=(binutils-gold)

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# need_packages NAME...: installs the Debian packages that are missing, and says which.
need_packages() {
    if ! command -v dpkg-query >/dev/null; then
        need_libraries
        return
    fi
    local name missing=() root=()
    for name in "$@"; do
        is_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
            fail "packages are missing and this user may not install them. As root: apt-get install ${missing[*]}"
        fi
        root=(sudo)
    fi
    say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
    "${root[@]}" apt-get update -qq || say "The package lists could not be refreshed; trying with those at hand."
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 "${missing[@]}" ||
        fail "apt-get could not install ${missing[*]}; what it says above is why"
}

# Where there is no dpkg: look for what the build needs, and name it.
need_libraries() {
    local library missing=()
    for library in g++ pkg-config git; do
        command -v "$library" >/dev/null || missing+=("$library")
    done
    for library in libsystemd libudev jansson tomlplusplus; do
        pkg-config --exists "$library" 2>/dev/null || missing+=("$library (headers)")
    done
    [ ${#missing[@]} -eq 0 ] || fail "this is no Debian, so install with your system's own tool:" \
        "$(printf '%s, ' "${missing[@]}")and the static libstdc++ (libstdc++.a)"
}
