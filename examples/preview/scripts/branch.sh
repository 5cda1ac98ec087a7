#!/bin/sh
# The branch of a preview. This provider makes no branches: put the command of your service here.
#
#   scripts/branch.sh make <number>     prints the id of the branch, which exists then; it may have existed before
#   scripts/branch.sh remove <number>   after its compute was destroyed; it may be gone already
#
# As it stands, all previews use one branch, and only one can be open at a time: a branch has one primary compute.
set -eu
case ${1:-} in
make) echo "${PREVIEW_BRANCH_ID:?"set it to the id of the branch of all previews, or make a branch here"}" ;;
remove) ;;
*)
  echo "usage: scripts/branch.sh make|remove <number>" >&2
  exit 2
  ;;
esac
