#!/bin/sh
# The tracker of drift.sh on GitHub, by `gh`: GH_TOKEN may write issues, GH_REPO names the repository.
# Issues are found by a label, which only people who may triage can set.
set -eu
case ${1:-} in
find)
  gh issue list --state open --label "$2" --limit 1 --json number,body --jq '.[0] // empty | .number, .body'
  ;;
open)
  gh label create "$2" --description "Somebody changed it at the service" --force </dev/null
  gh issue create --label "$2" --title "$3" --body-file -
  ;;
update)
  gh issue edit "$2" --body-file -
  # An edit notifies nobody.
  gh issue comment "$2" --body "The drift is another one now: see the report above."
  ;;
close)
  gh issue close "$2" --comment "There is no drift any more."
  ;;
*)
  echo "usage: $0 find|open|update|close" >&2
  exit 2
  ;;
esac
