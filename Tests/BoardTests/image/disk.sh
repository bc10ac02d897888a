#!/usr/bin/env bash
# What QEMU boots: a disk with the root file system, the kernel, and an initramfs that mounts the disk. To be sourced by
# build.
# shellcheck disable=SC2154  # the variables are of build

boot_modules=(crc32c_generic crc32c-intel virtio_pci virtio_blk ext4)

make_disk() {
    local release new=$board.new
    release=$(cat "$kernel/release")
    say "disk"
    rm -rf "$new"
    mkdir -p "$new"
    make_initramfs "$release" "$new"
    cp "$kernel/boot/vmlinuz-$release" "$new/vmlinuz"
    cp -a "$rootfs" "$new/root"
    configure_guest "$new/root" "$release"
    truncate -s 1200M "$new/disk.img"
    # No journal: the disk is thrown away, and a reset of the board is what tests are about.
    mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -E lazy_itable_init=1,root_owner=0:0 -d "$new/root" \
        "$new/disk.img" >&8 2>&1
    rm -rf "$new/root"
    mv "$new" "$board"
}

make_initramfs() {
    local release=$1 into=$2 work=$2/initramfs module number=10
    mkdir -p "$work"/{bin,dev,proc,sys,mnt,modules}
    cp "$kernel/busybox" "$work/bin/"
    # In the order of their needs; what the kernel has built in is no file.
    for module in "${boot_modules[@]}"; do
        modprobe -d "$kernel" -S "$release" --show-depends "$module" 2>&8 || true
    done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' | while read -r module; do
        cp "$module" "$work/modules/$number-${module##*/}"
        number=$((number + 1))
    done
    cat >"$work/init" <<'END'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev; $b mount -t proc proc /proc; $b mount -t sysfs sys /sys
for m in /modules/*; do
    case $m in *.xz) $b xz -dc $m >/m.ko; m=/m.ko ;; esac
    $b insmod $m
done
i=0; while [ ! -b /dev/vda ] && [ $i -lt 600 ]; do $b sleep 0.05; i=$((i+1)); done
$b mount -t ext4 -o rw /dev/vda /mnt || exec $b sh
$b umount /sys; $b umount /proc; $b mount --move /dev /mnt/dev
exec $b switch_root /mnt /lib/systemd/systemd
END
    chmod +x "$work/init"
    (cd "$work" && find . | cpio -o -H newc 2>&8 | gzip -1) >"$into/initrd.gz"
    rm -rf "$work"
}

configure_guest() {
    local root=$1 release=$2 units=$1/etc/systemd/system unit
    rm -rf "$root/usr/lib/modules"
    mkdir -p "$root/usr/lib/modules"
    cp -a "$kernel/lib/modules/$release" "$root/usr/lib/modules/"
    sed -i 's#^root:[^:]*:#root::#' "$root/etc/shadow"
    printf 'board\n' >"$root/etc/hostname"
    : >"$root/etc/fstab"
    printf '0123456789abcdef0123456789abcdef\n' >"$root/etc/machine-id"
    # The journal is kept over a reboot: tests read how the last one ended.
    mkdir -p "$root/var/log/journal"
    install -m 755 "$here/../agent.py" "$root/usr/local/bin/board-agent"
    cat >"$units/board-agent.service" <<'END'
[Unit]
Description=runs the host's commands
After=dbus.service systemd-logind.service systemd-udevd.service
[Service]
ExecStart=/usr/local/bin/board-agent
Delegate=yes
Restart=always
END
    mkdir -p "$units/multi-user.target.wants"
    ln -sf ../board-agent.service "$units/multi-user.target.wants/"
    ln -sf /lib/systemd/system/multi-user.target "$units/default.target"
    for unit in systemd-firstboot.service systemd-hwdb-update.service apt-daily.timer apt-daily-upgrade.timer \
        dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer; do
        ln -sf /dev/null "$units/$unit"
    done
    touch "$root/etc/.updated" "$root/var/.updated"
}
