#!/usr/bin/env bash
# Debian packages of another architecture or release, unpacked below a folder; the machine's own are left alone.
# To be sourced after prepare.sh.

# The Debian mirror that this machine's own apt uses.
debian_mirror() {
    local uri=${CURFEW_MIRROR:-}
    # shellcheck disable=SC2016  # apt fills these in
    [ -n "$uri" ] || uri=$(apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Identifier: Packages' |
        awk '$1 == "main" && $2 !~ /-/ && $3 ~ /debian/ && !found { print $3; found = 1 }')
    [ -n "$uri" ] || fail "apt's configuration on this machine names no Debian mirror." \
        "Name one: CURFEW_MIRROR=http://.../debian deploy/build --arch arm64"
    printf '%s' "$uri"
}

# debian_apt FOLDER SUITE ARCHITECTURE: sets `apt`, an apt-get with lists and settings of its own, for a machine on
# which nothing is installed.
debian_apt() {
    local folder=$1 suite=$2 architecture=$3 mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mirror=$(debian_mirror)
    [ -f $keyring ] || fail "$keyring is missing. Install it: apt-get install debian-archive-keyring"
    mkdir -p "$folder"/{lists/partial,archives/partial}
    : >"$folder/status"
    printf 'deb [signed-by=%s] %s %s main\n' $keyring "$mirror" "$suite" >"$folder/sources.list"
    # A mirror's copy of sid may be a little past its date.
    apt=(apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture"
        -o APT::Sandbox::User=root -o Dir::State="$folder" -o Dir::State::status="$folder/status"
        -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder" -o Dir::Etc::SourceList="$folder/sources.list"
        -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
        -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false -o Debug::NoLocking=true)
    "${apt[@]}" update ||
        fail "the $architecture package lists of Debian $suite could not be had; what apt says above is why"
}

# debian_root [--alone] FOLDER SUITE ARCHITECTURE PACKAGE...: unpacks the packages, and unless --alone all that they
# depend on, into FOLDER/root, unless the very same was asked for before. No package's scripts are run.
debian_root() {
    local get=(--download-only --no-install-recommends -y install) apt=()
    if [ "$1" = --alone ]; then
        get=(download)
        shift
    fi
    local folder=$1 suite=$2 architecture=$3
    shift 3
    local asked="$suite $architecture ${get[0]} $*"
    [ "$(cat "$folder/made-of" 2>/dev/null || true)" != "$asked" ] || return 0
    say "Unpacking Debian's $architecture packages of $suite into $folder: $*"
    rm -rf "$folder"
    mkdir -p "$folder/root"
    debian_apt "$folder/apt" "$suite" "$architecture"
    (cd "$folder/apt/archives" && "${apt[@]}" "${get[@]}" "$@") ||
        fail "apt could not download $*; what it says above is why"
    local package
    for package in "$folder"/apt/archives/*.deb; do
        dpkg-deb --extract "$package" "$folder/root"
        basename "$package" .deb >>"$folder/packages"
        rm "$package"
    done
    # What base-files would have made.
    local name
    for name in bin sbin lib lib64; do
        if [ -d "$folder/root/usr/$name" ] && [ ! -e "$folder/root/$name" ]; then
            ln -s "usr/$name" "$folder/root/$name"
        fi
    done
    rm -rf "$folder/apt"
    printf '%s\n' "$asked" >"$folder/made-of"
}

# debian_version FOLDER PACKAGE: of one that was unpacked there.
debian_version() { sed -n "s/^$2_\(.*\)_[a-z0-9]*\$/\1/p" "$1/packages"; }
