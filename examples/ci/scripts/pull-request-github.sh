#!/bin/sh
# The host of accept.sh on GitHub, by `gh`: GH_TOKEN may write contents and pull requests, GH_REPO names the repository.
set -eu
case ${1:-} in
find)
  # A fork may have a branch of the same name.
  gh api "repos/{owner}/{repo}/pulls?state=open&head={owner}:$2" \
    --jq 'map(select(.head.repo.full_name == .base.repo.full_name)) | .[0] // empty | .number, .body'
  ;;
open)
  gh pr create --head "$2" --base "${GITHUB_REF_NAME:-main}" --title "$3" --body-file -
  ;;
update)
  gh api --method PATCH "repos/{owner}/{repo}/pulls/$2" --field body=@- --silent
  # An edit notifies nobody.
  gh pr comment "$2" --body "The edit is another one now: see the description above."
  ;;
close)
  gh pr close "$2" --comment "Nothing is left to accept."
  ;;
remote)
  git remote get-url origin
  ;;
credentials)
  printf 'username=x-access-token\npassword=%s\n' "$GH_TOKEN"
  ;;
*)
  echo "usage: $0 find|open|update|close|remote|credentials" >&2
  exit 2
  ;;
esac
