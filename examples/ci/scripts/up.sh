#!/bin/sh
# For the main branch: deploys the program. With --refresh it also takes back what somebody changed by hand.
# Never with --json: that prints debug events of the Pulumi SDK, which hold secrets in clear.
#
#   scripts/up.sh <stack> [flags of pulumi up]
set -eu
stack=${1:?"usage: scripts/up.sh <stack>"}
shift
exec pulumi up --yes --stack "$stack" --non-interactive "$@"
