#!/bin/sh
# The tracker of drift.sh on GitHub, by `gh`: GH_TOKEN may write issues, GH_REPO names the repository.
# Issues are found by a label, which only people who may triage can set.
set -eu
# GitHub allows 50 characters: of a longer label the beginning, and a digest of the whole.
label() {
  if [ ${#1} -le 50 ]; then
    printf %s "$1"
  else
    printf '%.39s-%s' "$1" "$(printf %s "$1" | cksum | cut -d ' ' -f 1)"
  fi
}
case ${1:-} in
find)
  gh issue list --state open --label "$(label "$2")" --limit 1 --json number,body --jq '.[0] // empty | .number, .body'
  ;;
open)
  label=$(label "$2")
  gh label create "$label" --description "Somebody changed it at the service" --force </dev/null
  gh issue create --label "$label" --title "$3" --body-file -
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
