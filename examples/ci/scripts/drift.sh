#!/bin/sh
# On a schedule: writes what somebody changed at the service to drift.md, and keeps one issue of each stack about it:
# opens it, updates it when the drift is another one, closes it when there is none any more.
#
#   scripts/drift.sh <stack> [tracker]
#
# The tracker is a command (scripts/issue-github.sh unless given) with four actions:
#   find <label>          prints the number of the open issue and, from the next line on, its body; or nothing
#   open <label> <title>  with the body on standard input
#   update <number>       with the new body on standard input
#   close <number>
#
# Exit code: 0 no drift, 7 drift, 8 only what is not declared; 1 it could not be told, or the tracker failed; 11 an update of the stack
# still ran after ten minutes, or was interrupted.
set -eu
stack=${1:?"usage: scripts/drift.sh <stack> [tracker]"}
scripts=$(dirname "$0")
tracker=${2:-$scripts/issue-github.sh}
label="drift-$stack"

code=0
npx --no -- pulumi-svc drift --stack "$stack" --unmanaged --wait 600 --format markdown --out drift.md || code=$?
case $code in
0 | 7 | 8) ;;
11) exit 11 ;;
*) exit 1 ;; # The issue stays as it is: nobody knows.
esac
# The tracker needs none of these.
unset SVC_API_KEY PULUMI_ACCESS_TOKEN PULUMI_CONFIG_PASSPHRASE

# The last line of a report says which drift it tells of: the same words whenever that is found again.
fingerprint=$(tail -n 1 drift.md)
body() {
  "$scripts/body.sh" drift.md
  printf '%s\n' "$fingerprint"
}

found=$("$tracker" find "$label") || exit 1
number=$(printf '%s\n' "$found" | head -n 1)
if [ "$code" -eq 0 ]; then
  if [ -n "$number" ]; then "$tracker" close "$number" || exit 1; fi
elif [ -z "$number" ]; then
  body | "$tracker" open "$label" "Drift of stack $stack" || exit 1
elif ! printf '%s\n' "$found" | grep -qF -e "$fingerprint"; then
  body | "$tracker" update "$number" || exit 1
fi
exit "$code"
