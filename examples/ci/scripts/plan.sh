#!/bin/sh
# For a pull request: the plan in the log, in the summary of the job, and as Markdown in plan.markdown for a comment
# (comment-github.sh, comment-gitlab.mjs). Ends as preview.sh does.
#
#   scripts/plan.sh <stack> [flags of pulumi preview]
set -eu
stack=${1:?"usage: scripts/plan.sh <stack>"}
scripts=$(dirname "$0")

# The program needs none of these.
unset GH_TOKEN ISSUE_TOKEN

code=0
# Text, in which the CLI masks secrets.
"$scripts/preview.sh" "$@" --color never >plan.txt 2>&1 || code=$?
cat plan.txt
"$scripts/plan.mjs" "$stack" "$code" <plan.txt >plan.markdown || exit 1
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat plan.markdown >>"$GITHUB_STEP_SUMMARY"; fi
exit "$code"
