#!/bin/sh
# On a schedule: what somebody changed at the service in any stack of the backend, in fleet/report.json, and one issue for each
# stack with drift. The issue of a stack about which nothing is known stays as it is.
#
#   scripts/fleet.sh [tracker]
#
# The tracker is scripts/issue-github.sh unless given: issue.sh says what it has to be.
#
# Exit code: 0 no drift, 7 drift; 1 something is not known, or the tracker failed.
set -eu
scripts=$(dirname "$0")
tracker=${1:-$scripts/issue-github.sh}
rm -rf fleet
mkdir fleet

code=0
npx --no -- pulumi-svc fleet drift --format json --out fleet/report.json || code=$?
[ -s fleet/report.json ] || exit 1
"$scripts/fleet.mjs" fleet >fleet/stacks || exit 1
failed=0
while read -r file state stack; do
  report=none
  if [ "$state" = drift ]; then
    report=fleet/$file.markdown
    npx --no -- pulumi-svc drift --from "fleet/$file.json" --format markdown --out "$report" </dev/null || [ $? -eq 7 ] || failed=1
  fi
  # The others have their issues all the same.
  "$scripts/issue.sh" "drift-$stack" "Drift of stack $stack" "$state" "$report" "$tracker" </dev/null || failed=1
done <fleet/stacks
[ $failed -eq 0 ] || exit 1
exit "$code"
