#!/bin/sh
# For the main branch: deploys the program. With --refresh it also takes back what somebody changed by hand.
# Never with --json: that prints debug events of the Pulumi SDK, which hold secrets in clear.
#
#   scripts/up.sh <stack> [flags of pulumi up]
#
# While another update of the stack holds its lock, waits for its end, for ten minutes or as many seconds as LOCK_WAIT says, and
# prints whose it is.
#
# Exit code: that of pulumi; 11 another update of the stack still ran then, or was interrupted.
set -eu
stack=${1:?"usage: scripts/up.sh <stack>"}
shift
until=$(($(date +%s) + ${LOCK_WAIT:-600}))
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

while :; do
  pulumi up --yes --stack "$stack" --non-interactive "$@" 2>"$errors" &
  pulumi=$!
  # The update ends properly, which gives its lock back. A terminal sends an interrupt to both.
  asked=no
  trap 'asked=yes' INT
  trap 'asked=yes; kill -TERM "$pulumi" || :' HUP TERM
  code=0
  wait "$pulumi" || code=$?
  # A signal ends the wait before the update.
  while kill -0 "$pulumi" 2>/dev/null; do wait "$pulumi" || code=$?; done
  trap - HUP INT TERM
  cat "$errors" >&2
  [ $asked = no ] || exit "$code"
  # Then nothing was changed. A backend of your own names who holds the lock in the second line.
  grep -Eq '^error: (the stack is currently locked by |\[409\] Conflict: Another update is currently in progress)' "$errors" || exit "$code"
  # Pulumi Cloud names it here.
  pulumi stack --stack "$stack" --non-interactive | sed -n '/Update in progress:/,/Requested By:/p' >&2
  if [ "$(date +%s)" -ge "$until" ]; then
    echo "scripts/up.sh: another update of stack $stack holds its lock. If it was interrupted: pulumi cancel --stack $stack" >&2
    exit 11
  fi
  echo "scripts/up.sh: waiting for the other update of stack $stack" >&2
  sleep 5
done
