#!/bin/sh
# A report as GitHub and GitLab take it, without its last line: they take 65,536 characters. The last line is the fingerprint,
# and whoever calls this writes it at the end.
#
#   scripts/body.sh drift.md
set -eu
file=${1:?"usage: scripts/body.sh <file>"}
sed '$d' "$file" | awk -v file="$file" '
  (size += length($0) + 1) > 60000 { print "\nThe rest is in " file ", and in the summary of the job.\n"; exit }
  { print }'
