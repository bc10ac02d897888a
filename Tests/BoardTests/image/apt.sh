#!/usr/bin/env bash
# apt for the board's suite and architecture, with lists of its own: what the machine itself takes from is not touched.
# To be sourced by build.
# shellcheck disable=SC2154  # the variables are of build

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The machine's own mirror; it has every suite.
mirror() {
    # shellcheck disable=SC2016  # apt's own variables
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' |
        awk -v own="$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")" \
            '!found && $1 == own && $2 == "main" {print $3; found = 1}'
}

need_mirror() {
    [ -z "${mirror_uri:-}" ] || return 0
    mirror_uri=$(mirror)
    [ -n "$mirror_uri" ] ||
        fail "this machine's apt has no main of its own suite, so there is nothing to make a board of"
}

# need_lists: fetches the suite's lists, once in a build.
need_lists() {
    [ -z "${apt_options:-}" ] || return 0
    need_mirror
    local private=$folder/apt-$suite-$arch
    mkdir -p "$private/lists/partial" "$private/parts"
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror_uri" "$suite" >"$private/sources.list"
    apt_options=(-q -o APT::Sandbox::User=root -o APT::Architecture="$arch" -o APT::Architectures="$arch"
        -o Dir::State::status=/dev/null -o Dir::State::lists="$private/lists" -o Dir::Cache="$private"
        -o Dir::Etc::sourcelist="$private/sources.list" -o Dir::Etc::sourceparts="$private/parts")
    apt-get "${apt_options[@]}" update >&8 2>&1
}

# fetch FOLDER PACKAGE...: downloads packages.
fetch() {
    local into=$1
    shift
    (cd "$into" && apt-get "${apt_options[@]}" download "$@") >&8 2>&1
}
