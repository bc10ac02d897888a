#!/usr/bin/env bash
# How the command line tool is built for arm64 on a machine of another kind. To be sourced after debian.sh.
#
# It needs all of Swift, whose libraries for arm64 come with no toolchain for another machine. Debian sid has them: the
# compiler for this machine, run in a folder of its own, and the libraries for arm64 of the very same version. They are
# linked with Debian 13's C library. All of that is kept in a cache.

arm64_cache=${CURFEW_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/curfew-arm64}
arm64_tool_sysroot=$arm64_cache/sysroot/root
arm64_tool_scratch=.build-static-arm64
# shellcheck disable=SC2034  # for deploy/build
arm64_tool=$arm64_tool_scratch/release/curfew

# What the compiler needs to build the package's description, which runs on this machine, and to fetch packages.
arm64_compiler=(swiftlang git dash libc6-dev libstdc++-16-dev)
arm64_tool_libraries=(libc6-dev libgcc-14-dev libstdc++-14-dev libjansson-dev libtomlplusplus-dev)

arm64_tool_roots() {
    debian_root "$arm64_cache/compiler" sid amd64 "${arm64_compiler[@]}"
    debian_root "$arm64_cache/sysroot" trixie arm64 "${arm64_tool_libraries[@]}"
    debian_root --alone "$arm64_cache/swift" sid arm64 swiftlang
    local ours theirs folder
    ours=$(debian_version "$arm64_cache/compiler" swiftlang)
    theirs=$(debian_version "$arm64_cache/swift" swiftlang)
    [ "$ours" = "$theirs" ] ||
        fail "Debian sid has Swift $ours for amd64 and $theirs for arm64 just now, and they do not fit." \
            "Try again in a day, after: rm -r $arm64_cache"
    for folder in swift swift_static; do
        [ ! -e "$arm64_tool_sysroot/usr/lib/$folder" ] || continue
        cp -a --link "$arm64_cache/swift/root/usr/libexec/swift/lib/$folder" "$arm64_tool_sysroot/usr/lib/$folder"
        # The C compiler's headers are those of the compiler that runs.
        rm -rf "$arm64_tool_sysroot/usr/lib/$folder/clang"
        ln -s /usr/libexec/swift/lib/swift/clang "$arm64_tool_sysroot/usr/lib/$folder/clang"
    done
}

# What makes a Swift SDK of it, as the compiler sees it in its folder.
arm64_swift_sdk() {
    local bundle=$arm64_cache/sdk/curfew.artifactbundle
    mkdir -p "$bundle/arm64"
    cat >"$bundle/info.json" <<END
{"schemaVersion": "1.0", "artifacts": {"curfew-arm64":
  {"type": "swiftSDK", "version": "1", "variants": [{"path": "arm64"}]}}}
END
    cat >"$bundle/arm64/swift-sdk.json" <<END
{"schemaVersion": "4.0", "targetTriples": {"aarch64-unknown-linux-gnu": {
  "sdkRootPath": "/cache/sysroot/root", "toolsetPaths": ["toolset.json"],
  "swiftResourcesPath": "/cache/sysroot/root/usr/lib/swift",
  "swiftStaticResourcesPath": "/cache/sysroot/root/usr/lib/swift_static"}}}
END
    printf '{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}\n' \
        >"$bundle/arm64/toolset.json"
}

# The packages that this one takes from elsewhere: fetched here, where their names are known, and found there as copies.
# Sets `copies`, for git.
arm64_copies() {
    swift package --scratch-path .build-static resolve
    local copy count=0
    copies=()
    for copy in .build-static/repositories/*; do
        copies+=("GIT_CONFIG_KEY_$count=url.file:///src/$copy.insteadOf"
            "GIT_CONFIG_VALUE_$count=$(git -C "$copy" config remote.origin.url)")
        count=$((count + 1))
    done
    copies+=("GIT_CONFIG_COUNT=$count")
}

# in_compiler_root [NAME=VALUE...] COMMAND...: runs it with the compiler's folder as root; this package is /src there,
# the cache /cache.
in_compiler_root() {
    local namespace=(--mount)
    [ "$(id -u)" -eq 0 ] || namespace+=(--map-root-user)
    # shellcheck disable=SC2016  # the inner shell's
    unshare "${namespace[@]}" bash -euc '
        root=$1 package=$2 cache=$3
        shift 3
        mkdir -p "$root"/{proc,dev,tmp,src,cache}
        mount --rbind /proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --bind "$package" "$root/src"
        mount --bind "$cache" "$root/cache"
        variables=(HOME=/tmp PATH=/usr/libexec/swift/bin:/usr/bin:/usr/sbin LC_ALL=C.UTF-8)
        while [[ $1 == *=* ]]; do
            variables+=("$1")
            shift
        done
        exec env -i "${variables[@]}" chroot "$root" "$@"
    ' bash "$arm64_cache/compiler/root" "$PWD" "$arm64_cache" "$@"
}

build_arm64_tool() {
    mkdir -p "$arm64_cache"
    arm64_tool_roots
    arm64_swift_sdk
    local copies
    arm64_copies
    in_compiler_root "${copies[@]}" swift build --package-path /src -c release --product curfew --static-swift-stdlib \
        --scratch-path "/src/$arm64_tool_scratch" --cache-path /cache/packages \
        --swift-sdks-path /cache/sdk --swift-sdk curfew-arm64 \
        --pkg-config-path /cache/sysroot/root/usr/lib/aarch64-linux-gnu/pkgconfig \
        -Xswiftc -Osize -Xlinker --gc-sections -Xlinker --icf=all -Xlinker -s
}
