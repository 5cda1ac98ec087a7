#!/bin/sh
# After an approval: brings back what was last deployed, where somebody changed it at the service, and nothing else.
# Only the drift that was approved: with another one it ends with 9, and nothing is changed.
#
#   scripts/repair.sh <stack> <fingerprint> [flags of pulumi-svc drift --repair]
#
# Ends as pulumi-svc does. What it did stands in the log, in the summary of the job and in repair.markdown.
set -eu
usage() {
  echo "usage: scripts/repair.sh <stack> <fingerprint>, which has 32 characters: 0 to 9, a to f" >&2
  exit 2
}

stack=${1:-}
fingerprint=${2:-}
[ -n "$stack" ] || usage
case $fingerprint in *[!0-9a-f]*) usage ;; esac
[ ${#fingerprint} -eq 32 ] || usage
shift 2

# A repair needs none of these.
unset GH_TOKEN ISSUE_TOKEN

code=0
npx --no -- pulumi-svc drift --repair --yes --expect "$fingerprint" --stack "$stack" --wait 600 --format markdown "$@" >repair.markdown || code=$?
cat repair.markdown
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then head -c 1000000 repair.markdown >>"$GITHUB_STEP_SUMMARY"; fi # one of more than 1 MiB is dropped
exit "$code"
