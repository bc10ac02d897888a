#!/usr/bin/env bash
# The board's kernel, its modules, and busybox for the initramfs. To be sourced by build.
# shellcheck disable=SC2154  # the variables are of build

# Module folders that no test needs: they only make the disk larger and slower to write.
unneeded_modules=(drivers/{gpu,media,infiniband,scsi,iio,staging,isdn,target,edac,hwmon,leds,ata,firewire,bluetooth}
    drivers/net/{wireless,ethernet,can,usb,phy,dsa} fs/{xfs,btrfs,ocfs2,f2fs,gfs2,nfs,nfsd,smb,ceph,jfs,reiserfs,udf}
    fs/bcachefs sound net/{bluetooth,wireless,mac80211,sctp,tipc,ceph,openvswitch})

newest_kernel() {
    apt-cache "${apt_options[@]}" search --names-only "^linux-image-[0-9][^ ]*[0-9]-$arch\$" |
        awk '{print $1}' | sort -V | tail -n 1
}

make_kernel() {
    local image release new=$kernel.new
    need_lists
    image=$(newest_kernel)
    [ -n "$image" ] || fail "$suite has no kernel for $arch"
    say "kernel: $image"
    rm -rf "$new"
    mkdir -p "$new"
    fetch "$new" "$image" busybox-static
    dpkg-deb --fsys-tarfile "$new"/linux-image-*.deb | tar -x -C "$new" --wildcards \
        "${unneeded_modules[@]/#/--exclude=*/kernel/}"
    # Debian 13 has its modules below /usr.
    [ ! -d "$new/usr/lib/modules" ] || { mkdir -p "$new/lib" && mv "$new/usr/lib/modules" "$new/lib/"; }
    rm -rf "${new:?}/usr"
    dpkg-deb --fsys-tarfile "$new"/busybox-static_*.deb |
        tar -x -C "$new" --wildcards --transform='s,.*/,,' '*/bin/busybox'
    rm "$new"/*.deb
    release=${image#linux-image-}
    if [ "$arch-$host" = amd64-amd64 ]; then make_test_power "$release" "$new"; fi
    depmod -b "$new" "$release" 2>&8
    printf '%s\n' "$release" >"$new/release"
    mv "$new" "$kernel"
}

# test_power.ko: a charger and a battery whose values are the module's parameters. No kernel of Debian's brings it.
make_test_power() {
    local release=$1 into=$2 work=$folder/test_power.new
    say "kernel: test_power.ko"
    rm -rf "$work"
    mkdir -p "$work/module"
    fetch "$work" "linux-headers-$release" "linux-headers-${release%-*}-common" linux-kbuild-6.1 linux-source-6.1
    local package
    for package in "$work"/linux-headers-*.deb "$work"/linux-kbuild-*.deb; do dpkg-deb -x "$package" "$work"; done
    sed -i "s#/usr/src/#$work/usr/src/#" "$work/usr/src/linux-headers-$release/Makefile"
    # The last tar stops at its file; those before it then end by SIGPIPE.
    set +o pipefail
    dpkg-deb --fsys-tarfile "$work"/linux-source-6.1_*.deb 2>&8 | tar -xO ./usr/src/linux-source-6.1.tar.xz |
        tar -xJ --occurrence=1 --strip-components=4 -C "$work/module" linux-source-6.1/drivers/power/supply/test_power.c
    set -o pipefail
    printf 'obj-m := test_power.o\n' >"$work/module/Makefile"
    make -C "$work/usr/src/linux-headers-$release" M="$work/module" modules >&8 2>&1
    install -D -m 644 "$work/module/test_power.ko" "$into/lib/modules/$release/extra/test_power.ko"
    rm -rf "$work"
}
