#!/bin/sh
# On a schedule: writes what somebody changed at the service to drift.md, and keeps one issue of the stack about it.
#
#   scripts/drift.sh <stack> [tracker]
#
# The tracker is scripts/issue-github.sh unless given: issue.sh says what it has to be.
#
# Exit code: 0 no drift, 7 drift, 8 only what is not declared; 1 it could not be told, or the tracker failed; 11 an update of the stack
# still ran after ten minutes, or was interrupted.
set -eu
stack=${1:?"usage: scripts/drift.sh <stack> [tracker]"}
scripts=$(dirname "$0")

code=0
npx --no -- pulumi-svc drift --stack "$stack" --unmanaged --wait 600 --format markdown --out drift.md || code=$?
case $code in
0) state=none ;;
7 | 8) state=drift ;;
11) exit 11 ;;
*) exit 1 ;; # The issue stays as it is: nobody knows.
esac
"$scripts/issue.sh" "drift-$stack" "Drift of stack $stack" $state drift.md "${2:-$scripts/issue-github.sh}" || exit 1
exit "$code"
