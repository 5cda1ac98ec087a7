#!/bin/sh
# Keeps one comment of a stack on a pull request of GitHub, by `gh`: GH_TOKEN may write comments of pull requests, GH_REPO names
# the repository and PR_NUMBER the pull request.
#
#   scripts/comment-github.sh plan.markdown
set -eu
file=${1:?"usage: scripts/comment-github.sh <file>"}
marker=$(head -n 1 "$file")

# Only our own: anybody may write a comment that begins with the marker.
found=$(gh pr view "$PR_NUMBER" --json comments \
  --jq '.comments[] | select(.viewerDidAuthor) | "\(.url) \(.body | split("\n")[0] | rtrimstr("\r"))"')
url=$(printf '%s\n' "$found" | while read -r address line; do
  if [ "$line" = "$marker" ]; then printf '%s\n' "$address"; fi
done | head -n 1)

if [ -n "$url" ]; then
  # …#issuecomment-<id>
  gh api --method PATCH "repos/$GH_REPO/issues/comments/${url##*-}" --field body=@- --silent <"$file"
else
  gh pr comment "$PR_NUMBER" --body-file - <"$file"
fi
