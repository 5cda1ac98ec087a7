#!/bin/sh
# For a pull request: what `up` would change, by what the state holds. Changes nothing.
#
#   scripts/preview.sh <stack> [flags of pulumi preview]
set -eu
stack=${1:?"usage: scripts/preview.sh <stack>"}
shift
exec pulumi preview --stack "$stack" --diff --non-interactive "$@"
