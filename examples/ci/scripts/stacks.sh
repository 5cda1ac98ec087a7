#!/bin/sh
# The names of the stacks of this program as a list in JSON, on one line: for the matrix of a workflow.
#
#   scripts/stacks.sh
set -eu
pulumi stack ls --json | node -e '
  const stacks = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  console.log(JSON.stringify(stacks.map(({ name }) => name)));'
