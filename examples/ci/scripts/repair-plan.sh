#!/bin/sh
# Before an approval: shows what a repair would bring back, and which drift it is. Changes nothing.
#
#   scripts/repair-plan.sh <stack>
#
# Writes "fingerprint=…" for repair.sh to the file that GITHUB_OUTPUT names, or else to repair.env. Without drift there is none.
#
# Exit code: 0; 1 it could not be told.
set -eu
stack=${1:?"usage: scripts/repair-plan.sh <stack>"}
outputs=${GITHUB_OUTPUT:-repair.env}

code=0
npx --no -- pulumi-svc drift --stack "$stack" --format markdown --out repair-plan.md || code=$?
: >>"$outputs"
case $code in
0) ;; # Nothing to repair.
7)
  cat repair-plan.md
  tail -n 1 repair-plan.md | sed -n 's/^Fingerprint `\([0-9a-f]\{32\}\)`$/fingerprint=\1/p' >>"$outputs"
  ;;
*) exit 1 ;;
esac
