#!/usr/bin/env bash
# How the command line tool is built for arm64 on a machine of another kind. To be sourced after debian.sh.
#
# It needs all of Swift, whose libraries for arm64 come with no toolchain for another machine. Debian sid has them: the
# compiler for this machine, run in a folder of its own, and the libraries for arm64 of the very same version. They are
# linked with Debian 13's C library. All of that is kept in a cache.

# The cache, which the functions take.
arm64_cache_folder() { printf '%s' "${CURFEW_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/curfew-arm64}"; }
# arm64_tool_sysroot CACHE
arm64_tool_sysroot() { printf '%s/sysroot/root' "$1"; }

# unpack_arm64_tool CACHE: the compiler's folder, with what it needs to build the package's description, which runs on
# this machine, and to fetch packages; and the libraries for arm64.
unpack_arm64_tool() {
    local cache=$1
    mkdir -p "$cache"
    debian_root "$cache/compiler" sid amd64 swiftlang git dash libc6-dev libstdc++-16-dev
    debian_root "$cache/sysroot" trixie arm64 libc6-dev libgcc-14-dev libstdc++-14-dev libjansson-dev \
        libtomlplusplus-dev
    debian_root --alone "$cache/swift" sid arm64 swiftlang
    local ours theirs folder sysroot
    ours=$(debian_version "$cache/compiler" swiftlang)
    theirs=$(debian_version "$cache/swift" swiftlang)
    [ "$ours" = "$theirs" ] ||
        fail "Debian sid has Swift $ours for amd64 and $theirs for arm64 just now, and they do not fit." \
            "Try again in a day, after: rm -r $cache"
    sysroot=$(arm64_tool_sysroot "$cache")
    for folder in swift swift_static; do
        [ ! -e "$sysroot/usr/lib/$folder" ] || continue
        cp -a --link "$cache/swift/root/usr/libexec/swift/lib/$folder" "$sysroot/usr/lib/$folder"
        # The C compiler's headers are those of the compiler that runs.
        rm -rf "$sysroot/usr/lib/$folder/clang"
        ln -s /usr/libexec/swift/lib/swift/clang "$sysroot/usr/lib/$folder/clang"
    done
}

# arm64_swift_sdk CACHE: what makes a Swift SDK of it, as the compiler sees it in its folder.
arm64_swift_sdk() {
    local bundle=$1/sdk/curfew.artifactbundle
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

# arm64_copies FOLDER...: variables for git, a line each, with which the compiler finds the packages that this one takes
# from elsewhere as copies: they are fetched out here, where their names are known.
arm64_copies() {
    local copy origin count=0
    for copy in "$@"; do
        origin=$(git -C "$copy" config remote.origin.url)
        printf '%s\n' "GIT_CONFIG_KEY_$count=url.file:///src/$copy.insteadOf" "GIT_CONFIG_VALUE_$count=$origin"
        count=$((count + 1))
    done
    printf 'GIT_CONFIG_COUNT=%d\n' $count
}

# in_compiler_root CACHE [NAME=VALUE...] COMMAND...: runs it with the compiler's folder as root; this package is /src
# there, the cache /cache.
in_compiler_root() {
    local cache=$1 namespace=(--mount)
    shift
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
    ' bash "$cache/compiler/root" "$PWD" "$cache" "$@"
}

# build_arm64_tool CACHE SCRATCH: SCRATCH, a folder of this package, gets release/curfew.
build_arm64_tool() {
    local cache=$1 scratch=$2 copies=()
    unpack_arm64_tool "$cache"
    arm64_swift_sdk "$cache"
    swift package --scratch-path .build-static resolve
    mapfile -t copies <<<"$(arm64_copies .build-static/repositories/*)"
    in_compiler_root "$cache" "${copies[@]}" \
        swift build --package-path /src -c release --product curfew --static-swift-stdlib \
        --scratch-path "/src/$scratch" --cache-path /cache/packages \
        --swift-sdks-path /cache/sdk --swift-sdk curfew-arm64 \
        --pkg-config-path /cache/sysroot/root/usr/lib/aarch64-linux-gnu/pkgconfig \
        -Xswiftc -Osize -Xlinker --gc-sections -Xlinker --icf=all -Xlinker -s
}

# arm64_tool_built_with CACHE: the packages, by their versions, a line each; the compiler is one of them.
arm64_tool_built_with() {
    local folder
    for folder in compiler swift sysroot; do debian_packages "$1/$folder"; done
}
