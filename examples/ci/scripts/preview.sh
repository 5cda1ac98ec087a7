#!/bin/sh
# For a pull request: what `up` would change, by what the state holds. Changes nothing. What the service shows in the way of a
# creation fails it (svc:strictPlan), so that it does not fail the merge.
#
#   scripts/preview.sh <stack> [flags of pulumi preview]
set -eu
stack=${1:?"usage: scripts/preview.sh <stack>"}
shift
export SVC_STRICT_PLAN="${SVC_STRICT_PLAN:-true}"
exec pulumi preview --stack "$stack" --diff --non-interactive "$@"
