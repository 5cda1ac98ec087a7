#!/bin/sh
# The preview of a pull request: a stack of its own, named pr-<number>.
#
#   scripts/preview.sh up <number> <address of the site>
#   scripts/preview.sh down <number>
#
# `up` makes or updates it, on the branch that scripts/branch.sh makes. It asks before and after whether the pull request is open:
# one that was closed meanwhile leaves nothing behind, also if the run of its closing came first. `down` destroys it, and then
# removes the branch; a second time, it does nothing.
#
# PREVIEW_IS_OPEN: a command that gets the number, and ends with 0 if the pull request is open and with 3 if it is closed
# (scripts/is-open-github.sh unless set). Anything else says nothing: 1 is how most commands fail.
#
# Exit code: 0 done; 1 it could not be done, or nobody knows whether the pull request is open; 2 wrong arguments.
set -eu
usage() {
  echo "usage: scripts/preview.sh up <number> <site>, or scripts/preview.sh down <number>" >&2
  exit 2
}
[ $# -ge 2 ] || usage
action=$1
number=$2
case $number in "" | *[!0-9]*) usage ;; esac
stack="pr-$number"
scripts=$(cd "$(dirname "$0")" && pwd)

is_open() {
  code=0
  "${PREVIEW_IS_OPEN:-$scripts/is-open-github.sh}" "$number" || code=$?
  case $code in
  0 | 3) return "$code" ;;
  *)
    echo "scripts/preview.sh: cannot tell whether pull request $number is open" >&2
    exit 1
    ;;
  esac
}

down() {
  # A failure of the list is not "there is none".
  stacks=$(pulumi stack ls --json) || exit 1
  if ! printf "%s" "$stacks" | grep -Eq "\"name\": \"([^\"]*/)?$stack\""; then
    echo "there is no stack $stack"
  else
    # With a refresh: the branch, and the compute with it, may be gone already.
    pulumi destroy --yes --refresh --stack "$stack" --non-interactive || exit 1
    pulumi stack rm --yes --stack "$stack" --non-interactive || exit 1
  fi
  "$scripts/branch.sh" remove "$number" || exit 1
}

case $action in
up)
  [ $# -eq 3 ] || usage
  if ! is_open; then
    echo "pull request $number is closed: its preview is not deployed"
    down
    exit 0
  fi
  branch=$("$scripts/branch.sh" make "$number")
  pulumi stack select --create --stack "$stack" --non-interactive
  pulumi config set --stack "$stack" branchId "$branch"
  pulumi config set --stack "$stack" site "$3"
  deployed=0
  pulumi up --yes --stack "$stack" --non-interactive || deployed=$?
  if ! is_open; then
    echo "pull request $number was closed meanwhile: its preview is destroyed"
    down
    exit 0
  fi
  [ "$deployed" -eq 0 ] || exit 1
  ;;
down) down ;;
*) usage ;;
esac
