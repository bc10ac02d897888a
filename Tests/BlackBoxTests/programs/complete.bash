# What bash offers at the end of a line, as if Tab was pressed there: complete.bash SCRIPT WORD...
# The last word is the one that is being completed.
script=$1
shift
# shellcheck source=deploy/completions/curfew.bash
source "$script"
# How completions are looked up: by the name of the command, without its directory.
specification=$(complete -p "${1##*/}") || exit
function=${specification##* -F }
function=${function%% *}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
COMPREPLY=()
previous=
[ "$COMP_CWORD" -eq 0 ] || previous=${COMP_WORDS[COMP_CWORD - 1]}
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "$previous"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
