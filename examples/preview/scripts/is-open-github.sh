#!/bin/sh
# Whether a pull request is open on GitHub (with `gh`, by GH_TOKEN and GH_REPO): 0 yes, 3 no, anything else not known.
#
#   scripts/is-open-github.sh <number>
set -eu
state=$(gh pr view "${1:?"usage: scripts/is-open-github.sh <number>"}" --json state --jq .state) || exit 2
case $state in
OPEN) ;;
CLOSED | MERGED) exit 3 ;;
*) exit 2 ;;
esac
