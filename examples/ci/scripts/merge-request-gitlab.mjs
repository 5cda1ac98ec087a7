#!/usr/bin/env node
// The host of accept.sh on GitLab, by its REST API. ACCEPT_TOKEN is a project access token with the scope "api" and the role
// Developer (the job's own token may not write merge requests); the rest is set in every job of a branch.
import { text } from "node:stream/consumers";

const { CI_API_V4_URL, CI_PROJECT_ID, CI_PROJECT_URL, CI_COMMIT_BRANCH, ACCEPT_TOKEN } = process.env;
const [action, subject = "", title = ""] = process.argv.slice(2);

async function mergeRequests(method, path, body) {
  const response = await fetch(`${CI_API_V4_URL}/projects/${CI_PROJECT_ID}/merge_requests${path}`, {
    method,
    headers: { "private-token": ACCEPT_TOKEN ?? "", "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} of the merge request -> ${response.status} ${await response.text()}`);
  return response.json();
}

const note = (words) => mergeRequests("POST", `/${subject}/notes`, { body: words });

const actions = {
  async find() {
    const open = await mergeRequests("GET", `?state=opened&per_page=100&source_branch=${encodeURIComponent(subject)}`);
    // A fork may have a branch of the same name.
    const own = open.find((one) => one.source_project_id === one.target_project_id);
    if (own) console.log(`${own.iid}\n${own.description}`);
  },
  async open() {
    const description = await text(process.stdin);
    const branches = { source_branch: subject, target_branch: CI_COMMIT_BRANCH, remove_source_branch: true };
    await mergeRequests("POST", "", { ...branches, title, description });
  },
  async update() {
    await mergeRequests("PUT", `/${subject}`, { description: await text(process.stdin) });
    // An edit notifies nobody.
    await note("The edit is another one now: see the description above.");
  },
  async close() {
    await note("Nothing is left to accept.");
    await mergeRequests("PUT", `/${subject}`, { state_event: "close" });
  },
  // Not the origin of the checkout: that has the job's own token in it.
  remote: () => console.log(`${CI_PROJECT_URL}.git`),
  credentials: () => console.log(`username=oauth2\npassword=${ACCEPT_TOKEN}`),
};

try {
  await actions[action]();
} catch (error) {
  console.error(`merge-request-gitlab: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
