#!/bin/sh
# Before an approval: shows what repair.sh would do, in the log, in the summary of the job and in repair-plan.markdown, and which drift
# it is for. Changes nothing.
#
#   scripts/repair-plan.sh <stack> [flags of pulumi-svc drift --repair]
#
# Writes "fingerprint=…" for repair.sh to the file that GITHUB_OUTPUT names, or else to repair.env. Without drift there is none.
#
# Exit code: 0; 1 it could not be told, or the repair is refused; 11 an update of the stack still ran after ten minutes, or was
# interrupted.
set -eu
stack=${1:?"usage: scripts/repair-plan.sh <stack>"}
shift
outputs=${GITHUB_OUTPUT:-repair.env}
: >>"$outputs"

# A repair needs none of these.
unset GH_TOKEN ISSUE_TOKEN

code=0
# It asks whether to repair this, and nobody answers.
npx --no -- pulumi-svc drift --repair --stack "$stack" --wait 600 --format markdown "$@" </dev/null >repair-plan.markdown || code=$?
cat repair-plan.markdown
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then head -c 1000000 repair-plan.markdown >>"$GITHUB_STEP_SUMMARY"; fi # one of more than 1 MiB is dropped
case $code in
0) exit 0 ;; # Nothing to repair.
2) ;;        # It would repair this. Or wrong flags: then there is no fingerprint.
11) exit 11 ;;
*) exit 1 ;;
esac
fingerprint=$(sed -n '$s/^Fingerprint `\([0-9a-f]\{32\}\)`$/\1/p' repair-plan.markdown)
[ -n "$fingerprint" ] || exit 1
printf 'fingerprint=%s\n' "$fingerprint" >>"$outputs"
