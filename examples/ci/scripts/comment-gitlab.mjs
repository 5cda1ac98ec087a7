#!/usr/bin/env node
// Keeps one comment of a stack on a merge request of GitLab, by its REST API: comment-gitlab.mjs plan.markdown. ISSUE_TOKEN is a
// project access token with the scope "api" (the job's own token may not write comments); the rest is set in every job of a
// merge request.
import { readFileSync } from "node:fs";

const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, ISSUE_TOKEN } = process.env;
const notes = `/projects/${CI_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;

async function request(method, path, body) {
  const response = await fetch(`${CI_API_V4_URL}${path}`, {
    method,
    headers: { "private-token": ISSUE_TOKEN ?? "", "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} of the comment -> ${response.status} ${await response.text()}`);
  return { json: await response.json(), nextPage: response.headers.get("x-next-page") };
}

async function findOwn(marker) {
  // Only our own: anybody may write a comment that begins with the marker.
  const { json: user } = await request("GET", "/user");
  for (let page = "1"; page;) {
    const { json, nextPage } = await request("GET", `${notes}?per_page=100&page=${page}`);
    const own = json.find(({ author, body }) => author.id === user.id && body.split(/\r?\n/, 1)[0] === marker);
    if (own) return own;
    page = nextPage;
  }
}

try {
  const [, , file = "plan.markdown"] = process.argv;
  const body = readFileSync(file, "utf8");
  const own = await findOwn(body.split("\n", 1)[0]);
  await (own ? request("PUT", `${notes}/${own.id}`, { body }) : request("POST", notes, { body }));
} catch (error) {
  console.error(`comment-gitlab: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
