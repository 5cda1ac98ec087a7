#!/bin/sh
# On a schedule: edits the program so that it declares what somebody changed at the service, and keeps one pull request of each
# stack with that edit: opens it, updates it when the drift or the edit is another one, closes it when nothing is left to accept.
#
#   scripts/accept.sh <stack> [host]
#
# The host is a command (scripts/pull-request-github.sh unless given) with these actions:
#   find <branch>          prints the number of the open pull request of the branch and, from the next line on, its body; or nothing
#   open <branch> <title>  with the body on standard input
#   update <number>        with the new body on standard input
#   close <number>
#   remote                 prints where git pushes to
#   credentials            the helper of git (gitcredentials) that may push there
#
# GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, or the configuration of git, say who commits.
#
# Exit code: 0 all drift is accepted, or there is none, 7 some is left (accept.markdown tells what and why); 1 it could not be told,
# edited or pushed; 11 an update of the stack still ran after ten minutes, or was interrupted.
set -eu
stack=${1:?"usage: scripts/accept.sh <stack> [host]"}
scripts=$(cd "$(dirname "$0")" && pwd)
host=${2:-$scripts/pull-request-github.sh}
case $host in /*) ;; *) host=$PWD/$host ;; esac # git calls it from another folder
branch="drift-accept-$stack"
title="Accept the drift of stack $stack"

fail() {
  echo "scripts/accept.sh: $1" >&2
  exit 1
}

edited() {
  git status --porcelain --untracked-files=no || exit 1
}

before=$(edited) || exit 1
[ -z "$before" ] || fail "this checkout has changes that are not committed. They would become part of the pull request."

code=0
# Nothing that may push.
(
  unset GH_TOKEN ACCEPT_TOKEN ISSUE_TOKEN
  exec npx --no -- pulumi-svc drift --accept --stack "$stack" --wait 600 --format markdown --out accept.markdown
) || code=$?
case $code in
0 | 7) ;;
11) exit 11 ;;
*) exit 1 ;; # The pull request stays as it is: nobody knows.
esac
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then head -c 1000000 accept.markdown >>"$GITHUB_STEP_SUMMARY"; fi # one of more than 1 MiB is dropped

# One program has several stacks: what the edit does to the others. Their plans also show the edits that are not deployed yet.
plans=""
for other in $(sed -n 's/^- `\([A-Za-z0-9][A-Za-z0-9._/-]*\)`$/\1/p' accept.markdown); do
  planned=0
  (
    unset GH_TOKEN ACCEPT_TOKEN ISSUE_TOKEN
    exec "$scripts/plan.sh" "$other" --expect-no-changes
  ) || planned=$?
  case $planned in
  0) words="no change" ;;
  7) words="changes, see the log of the job" ;;
  *) words="could not be planned, see the log of the job" ;;
  esac
  plans="$plans- \`$other\`: $words
"
done
# git and the host need none of these.
unset SVC_API_KEY PULUMI_ACCESS_TOKEN PULUMI_CONFIG_PASSPHRASE ISSUE_TOKEN

found=$("$host" find "$branch") || exit 1
number=$(printf '%s\n' "$found" | head -n 1)
after=$(edited) || exit 1
if [ -z "$after" ]; then
  if [ -n "$number" ]; then "$host" close "$number" || exit 1; fi
  exit "$code"
fi

# The last line says which drift it is, as in the issue. The program may have changed since: then the edit is another one.
fingerprint=$(tail -n 1 accept.markdown)
printf '%s\n' "$fingerprint" | grep -Eqx 'Fingerprint `[0-9a-f]{32}`' || fail "accept.markdown does not end with a fingerprint."
edit="<!-- edit $(git diff HEAD -- | git patch-id --stable | cut -d ' ' -f 1) -->"
if [ -n "$number" ] && printf '%s\n' "$found" | grep -qF -e "$fingerprint" && printf '%s\n' "$found" | grep -qF -e "$edit"; then
  exit "$code"
fi

# As the host's user, without waiting for a password, and without the hooks of the repository.
remote=$("$host" remote) || exit 1
as_host() {
  GIT_TERMINAL_PROMPT=0 DRIFT_HOST=$host git -c credential.helper= -c credential.helper='!"$DRIFT_HOST" credentials' -c core.hooksPath=/dev/null "$@" || exit 1
}
listed=$(as_host ls-remote "$remote" "refs/heads/$branch") || exit 1
tip=$(printf '%s\n' "$listed" | cut -f 1)
if [ -n "$number" ] && [ -n "$tip" ]; then
  as_host fetch --quiet --depth 1 "$remote" "refs/heads/$branch"
  [ "$(git log -1 --format=%s "$tip")" = "$title" ] ||
    fail "somebody has pushed to $branch, so it is not updated. Merge or close its pull request, and delete the branch."
fi

# A commit without a checkout: the job keeps its branch.
git add --update :/
if [ -n "${GIT_AUTHOR_NAME:-}" ]; then export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME"; fi
if [ -n "${GIT_AUTHOR_EMAIL:-}" ]; then export GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"; fi
commit=$(printf '%s\n\n%s\n' "$title" "$fingerprint" | git commit-tree "$(git write-tree)" -p HEAD) || exit 1
as_host push --quiet --force-with-lease="refs/heads/$branch:$tip" "$remote" "$commit:refs/heads/$branch"

body() {
  "$scripts/body.sh" accept.markdown
  if [ -n "$plans" ]; then printf '### Plans of the other stacks\n\n%s\n' "$plans"; fi
  printf '%s\n%s\n' "$edit" "$fingerprint"
}
if [ -z "$number" ]; then
  body | "$host" open "$branch" "$title" || exit 1
else
  body | "$host" update "$number" || exit 1
fi
exit "$code"
