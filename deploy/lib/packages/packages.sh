#!/usr/bin/env bash
# Making and checking the Debian packages. To be sourced after prepare.sh.

# shellcheck disable=SC2034  # for deploy/package
package_packages=(git dpkg-dev debhelper dh-python python3 binutils)

# The version stands in the sources, once for each program and client; a test keeps those alike.
source_version() {
    local version
    version=$(sed -n 's/.*static let version = "\(.*\)"$/\1/p' Sources/Supervision/Daemon.swift)
    [ -n "$version" ] || fail "Sources/Supervision/Daemon.swift says no version"
    printf '%s' "$version"
}

# The time of the last change, for everything in the packages that has a time.
source_time() {
    local time=${SOURCE_DATE_EPOCH:-}
    [ -n "$time" ] || time=$(git -c safe.directory='*' log -1 --format=%ct) ||
        fail "the packages' date is that of the last commit, and git shows none; set SOURCE_DATE_EPOCH"
    printf '%s' "$time"
}

# binaries_of ARCH: where deploy/build leaves them.
binaries_of() {
    if [ "$1" = "$(dpkg --print-architecture)" ]; then
        printf .build/device
    else
        printf '.build/device-%s' "$1"
    fi
}

# check_binaries FOLDER ARCH VERSION: they are there, for this architecture, and not of an earlier version. Those for
# another architecture cannot be asked, and need not have it as text: it may be in their instructions.
check_binaries() {
    local name machine said
    case "$2" in
    amd64) machine=X86-64 ;;
    arm64) machine=AArch64 ;;
    esac
    for name in curfewd curfew; do
        [ -x "$1/$name" ] || fail "$1/$name is missing; deploy/package without --no-build makes it"
        readelf -h "$1/$name" | grep -q "Machine:.*$machine" || fail "$1/$name is not for $2"
        [ -z "$(readelf -SW "$1/$name" | sed -n '/ \.symtab /p')" ] || fail "$1/$name is not stripped"
        if [ "$2" = "$(dpkg --print-architecture)" ]; then
            said=$("$1/$name" --version) || fail "$1/$name does not run"
            [ "${said##* }" = "$3" ] || fail "$1/$name is not of version $3; deploy/package without --no-build makes it"
        else
            [ "$1/$name" -nt Sources/Supervision/Daemon.swift ] ||
                fail "$1/$name is older than the sources' version; deploy/package without --no-build makes it"
            [ -s "$1/$name.built-with" ] ||
                fail "$1/$name.built-with is missing; deploy/package without --no-build makes it"
        fi
    done
}

# write_interfaces FOLDER: the descriptions of our Varlink interfaces as files; not those that others have defined.
write_interfaces() {
    mkdir -p "$1"
    python3 -B deploy/lib/docs/interfaces.py "$1"
    find "$1" -name '*.varlink' ! -name 'io.curfew.*' -delete
    [ -n "$(ls "$1")" ] || fail "no description of an interface was found in the sources"
}

# write_built_with FOLDER: what the programs there were built with, for the package's documentation. What this machine
# builds for itself is built with its own packages, as everywhere in Debian.
write_built_with() {
    local file name
    printf 'What the programs of this package were built with: the compiler, or a release of Debian and the\n'
    printf 'package that was taken from it. Linked in are libstdc++ and libgcc in curfewd, and Swift in curfew.\n'
    for name in curfewd curfew; do
        file=$1/$name.built-with
        printf '\n%s\n' "$name" && sed 's/^/  /' "$file"
    done
}

# fill_source_tree FOLDER ARCH VERSION TIME: what debian/rules works in.
fill_source_tree() {
    local tree=$1 arch=$2 version=$3 time=$4 binaries
    binaries=$(binaries_of "$arch")
    rm -rf "$tree"
    mkdir -p "$tree/bin" "$tree/Sources"
    cp "$binaries"/{curfewd,curfew} "$tree/bin/"
    cp -R deploy hardware-profiles "$tree/"
    cp -R Sources/Clients "$tree/Sources/"
    cp -R deploy/debian "$tree/debian"
    write_interfaces "$tree/varlink"
    sed "s/@VERSION@/$version/" "$tree/debian/curfew.pc.in" >"$tree/curfew.pc"
    printf 'curfew (%s) unstable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' "$version" "$version" \
        "$(sed -n 's/^Maintainer: //p' deploy/debian/control)" \
        "$(LC_ALL=C date -u -R -d "@$time")" >"$tree/debian/changelog"
    if [ "$arch" != "$(dpkg --print-architecture)" ]; then
        foreign_dependencies "$tree/bin" >"$tree/foreign.substvars"
        write_built_with "$binaries" >"$tree/built-with"
        printf 'built-with\n' >"$tree/debian/curfew.docs"
    fi
}

# needed_packages FOLDER: "PACKAGE VERSION" for each package that the programs there need, as dpkg-shlibdeps finds them.
# It needs the libraries themselves; here this machine's packages are asked which version brought a symbol, and the
# program may be for another architecture.
needed_packages() {
    local program
    for program in "$1"/*; do
        readelf --dynamic --version-info --dyn-syms -W "$program" |
            awk -f deploy/lib/packages/needed-symbols.awk /var/lib/dpkg/info/*.symbols -
    done | LC_ALL=C sort -k 1,1 -k 2,2V |
        awk '{version[$1] = $2} END {for (name in version) print name, version[name]}' | LC_ALL=C sort
}

foreign_dependencies() {
    local needed
    needed=$(needed_packages "$1")
    ! grep '^unknown' <<<"$needed" || fail "no package on this machine has that, which the programs need"
    awk '{printf "%s%s (>= %s)", NR == 1 ? "shlibs:Depends=" : ", ", $1, $2} END {print ""}' <<<"$needed"
}

# make_packages ARCH [FOLDER]: out of what deploy/build has left, into packages/ in FOLDER (.build).
make_packages() {
    local arch=$1 into=${2:-.build} tree version time name made=()
    tree=$into/packaging-$arch/tree
    version=$(source_version)
    time=$(source_time)
    check_binaries "$(binaries_of "$arch")" "$arch" "$version"
    fill_source_tree "$tree" "$arch" "$version" "$time"
    say "Debian packages, version $version, for $arch"
    (
        umask 022
        cd "$tree" || exit
        # Told nothing by who calls: options there would change what comes out.
        env -u MAKEFLAGS SOURCE_DATE_EPOCH="$time" DEB_BUILD_OPTIONS=nocheck LC_ALL=C DH_QUIET=1 \
            dpkg-architecture --host-arch "$arch" --force --command debian/rules binary
    )
    mkdir -p "$into/packages"
    for name in "curfew_${version}_$arch" "libcurfew-dev_${version}_all" "python3-curfew_${version}_all"; do
        mv "$into/packaging-$arch/$name.deb" "$into/packages/"
        made+=("$into/packages/$name.deb")
    done
    for name in "${made[@]}"; do
        printf '%-52s %9s bytes, %s KB installed\n' "$name" "$(stat -c %s "$name")" \
            "$(dpkg-deb -f "$name" Installed-Size)"
    done
}

# What deploy/test checks.

# shellcheck disable=SC2034  # for deploy/test
package_check_packages=(lintian mmdebstrap debian-archive-keyring man-db pkg-config gcc)

# check_packages: tries those out that deploy/package has made. Needs root.
check_packages() {
    local arch version suite
    arch=$(dpkg --print-architecture)
    version=$(source_version)
    check_same_packages "$arch"
    check_foreign_dependencies "$arch"
    check_lintian "$arch" "$version"
    for suite in bookworm trixie; do Tests/PackageTests/run .build/packages "$version" "$suite"; done
}

# check_same_packages ARCH: made again in another folder, by a user with other habits, they are the same to the byte.
check_same_packages() {
    local again=.build/packages-made-again deb
    rm -rf "$again"
    (
        umask 077
        export TZ=Pacific/Kiritimati LANG=C.UTF-8 HOME=$PWD/$again
        unset SOURCE_DATE_EPOCH
        make_packages "$1" "$again" >/dev/null
    )
    for deb in "$again"/packages/*.deb; do
        cmp "$deb" ".build/packages/${deb##*/}" || fail "${deb##*/} is another one each time"
    done
    rm -rf "$again"
    say "made again, they are the same to the byte"
}

# check_lintian ARCH VERSION
check_lintian() {
    local user=()
    [ "$(id -u)" -ne 0 ] || user=(--allow-root)
    lintian "${user[@]}" --fail-on error,warning --tag-display-limit 0 ".build/packages/curfew_$2_$1.deb" \
        .build/packages/{libcurfew-dev,python3-curfew}"_$2_all.deb" || fail "lintian complains of the packages"
    say "lintian: no errors, no warnings"
}

# check_foreign_dependencies ARCH: how the dependencies for a foreign architecture are found gives for our own what
# dpkg-shlibdeps has found.
check_foreign_dependencies() {
    local arch=$1 expected found
    expected=$(sed -n 's/^shlibs:Depends=//p' ".build/packaging-$arch/tree/debian/curfew.substvars")
    found=$(foreign_dependencies "$(binaries_of "$arch")")
    [ "$expected" = "${found#shlibs:Depends=}" ] ||
        fail "dependencies by our own look: ${found#*=}; dpkg-shlibdeps says $expected"
}
