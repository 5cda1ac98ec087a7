#!/bin/sh
# Keeps one issue about drift: opens it, updates it when the drift is another one, closes it when there is none any more.
#
#   scripts/issue.sh <label> <title> <drift|none> <report> <tracker>
#
# The tracker is a command with four actions:
#   find <label>          prints the number of the open issue and, from the next line on, its body; or nothing
#   open <label> <title>  with the body on standard input
#   update <number>       with the new body on standard input
#   close <number>
set -eu
[ $# -eq 5 ] || { echo "usage: scripts/issue.sh <label> <title> <drift|none> <report> <tracker>" >&2 && exit 2; }
label=$1 title=$2 state=$3 report=$4 tracker=$5
scripts=$(dirname "$0")
# The tracker needs none of these.
unset SVC_API_KEY PULUMI_ACCESS_TOKEN PULUMI_CONFIG_PASSPHRASE

found=$("$tracker" find "$label") || exit 1
number=$(printf '%s\n' "$found" | head -n 1)
if [ "$state" = none ]; then
  if [ -n "$number" ]; then "$tracker" close "$number" || exit 1; fi
  exit 0
fi
# The last line of a report says which drift it tells of: the same words whenever that is found again.
fingerprint=$(tail -n 1 "$report")
body() {
  "$scripts/body.sh" "$report"
  printf '%s\n' "$fingerprint"
}
if [ -z "$number" ]; then
  body | "$tracker" open "$label" "$title" || exit 1
elif ! printf '%s\n' "$found" | grep -qF -e "$fingerprint"; then
  body | "$tracker" update "$number" || exit 1
fi
