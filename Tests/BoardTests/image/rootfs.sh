#!/usr/bin/env bash
# The board's root file system: a plain Debian with systemd. To be sourced by build.
# shellcheck disable=SC2154  # the variables are of build

# What a board of few megabytes has, and what curfewd needs from it; the package under test brings nothing along.
guest_packages=(systemd systemd-sysv udev dbus libpam-systemd kmod procps util-linux util-linux-extra python3
    libudev1 libjansson4 libsystemd0 libnss-systemd)
# Programs that were not made for Curfew. systemd does not start them.
guest_services=(redis-server mosquitto nginx-light postgresql)
unneeded_files=(/usr/share/doc /usr/share/locale)

make_rootfs() {
    local options=() path
    need_mirror
    say "root file system: $suite for $arch"
    [ "$arch" = "$host" ] || register_emulator
    for path in "${unneeded_files[@]}"; do options+=(--dpkgopt="path-exclude=$path/*"); done
    rm -rf "$rootfs.new"
    # shellcheck disable=SC2016  # mmdebstrap's own arguments
    mmdebstrap --mode=root --variant=minbase --format=directory --architectures="$arch" --keyring="$keyring" \
        --include="$(
            IFS=,
            printf '%s' "${guest_packages[*]},${guest_services[*]}"
        )" --aptopt='Apt::Install-Recommends "false"' "${options[@]}" \
        --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/etc/apt/sources.list "$1"/etc/resolv.conf' \
        --customize-hook='chroot "$1" systemctl -q mask redis-server mosquitto nginx postgresql' \
        "$suite" "$rootfs.new" "$mirror_uri" >&8 2>&1
    # What dpkg is told at the installation counts for what is installed later, too: the manual pages are wanted.
    mv "$rootfs.new" "$rootfs"
}

# The programs of the board's architecture run on this machine.
register_emulator() {
    local table=/proc/sys/fs/binfmt_misc
    [ -e $table/register ] || mount -t binfmt_misc binfmt_misc $table || fail "binfmt_misc cannot be mounted"
    [ -e $table/qemu-aarch64 ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$table/register
}
