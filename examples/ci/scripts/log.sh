#!/bin/sh
# On GitHub Actions: runs a command whose output has texts of the service or of a program. The runner obeys lines of the output
# (`::add-mask::…`, `##[…]`), and none of those between these two.
#
#   scripts/log.sh <command> [arguments]
#
# Ends as the command does.
set -eu
[ $# -gt 0 ] || { echo "usage: scripts/log.sh <command>" >&2 && exit 2; }
# Nobody who writes a text can know it.
resume=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$resume"
code=0
# In one stream, in which the last line is the last one. It may have no end.
"$@" 2>&1 || code=$?
printf "\n::%s::\n" "$resume"
exit "$code"
