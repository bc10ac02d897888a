#!/usr/bin/env bash
# Debian packages of another architecture or release, unpacked below a folder; the machine's own are left alone.
# To be sourced after prepare.sh. Folders are absolute paths.

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

# debian_apt FOLDER ARGUMENT...: apt-get with the lists and settings that debian_lists has put there.
debian_apt() {
    local folder=$1
    shift
    apt-get -qq --config-file "$folder/apt.conf" "$@"
}

# debian_lists FOLDER SUITE ARCHITECTURE: lists and settings of their own, for a machine on which nothing is installed.
debian_lists() {
    local folder=$1 suite=$2 architecture=$3 mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mirror=$(debian_mirror)
    [ -f $keyring ] || fail "$keyring is missing. Install it: apt-get install debian-archive-keyring"
    mkdir -p "$folder"/{lists/partial,archives/partial}
    : >"$folder/status"
    printf 'deb [signed-by=%s] %s %s main\n' $keyring "$mirror" "$suite" >"$folder/sources.list"
    # A mirror's copy of sid may be a little past its date.
    cat >"$folder/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures "$architecture";
APT::Sandbox::User "root";
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::State::lists "$folder/lists";
Dir::Cache "$folder";
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Debug::NoLocking "true";
END
    debian_apt "$folder" update ||
        fail "the $architecture package lists of Debian $suite could not be had; what apt says above is why"
}

# debian_root [--alone] FOLDER SUITE ARCHITECTURE PACKAGE...: unpacks the packages, and unless --alone all that they
# depend on, into FOLDER/root, unless the very same was asked for before. No package's scripts are run.
debian_root() {
    local get=(--download-only --no-install-recommends -y install)
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
    debian_lists "$folder/apt" "$suite" "$architecture"
    (cd "$folder/apt/archives" && debian_apt "$folder/apt" "${get[@]}" "$@") ||
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

# debian_packages FOLDER: "SUITE NAME_VERSION_ARCHITECTURE" for each package that was unpacked there.
debian_packages() {
    local suite
    read -r suite _ <"$1/made-of"
    sed "s/^/$suite /" "$1/packages" | LC_ALL=C sort
}
