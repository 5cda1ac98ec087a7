#!/bin/sh
# On GitHub Actions: runs a command whose output has texts of the service or of a program. The runner obeys lines of the output
# (`::add-mask::…`, `##[…]`), and none of those between these two.
#
#   scripts/log.sh <command> [arguments]
#
# Ends as the command does. A signal reaches the command as SIGTERM, and its end is awaited. GitHub signals only the first process
# of a step, so the step has to be `exec scripts/log.sh …`.
set -eu
[ $# -gt 0 ] || { echo "usage: scripts/log.sh <command>" >&2 && exit 2; }
# Nobody who writes a text can know it.
resume=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$resume"
# In one stream, in which the last line is the last one. It may have no end.
"$@" 2>&1 &
command=$!
trap 'kill -TERM "$command" || :' HUP INT TERM
code=0
wait "$command" || code=$?
# A signal ends the wait before the command.
while kill -0 "$command" 2>/dev/null; do wait "$command" || code=$?; done
printf "\n::%s::\n" "$resume"
exit "$code"
