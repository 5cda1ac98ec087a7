#!/usr/bin/env node
// The tracker of drift.sh on GitLab, by its REST API. ISSUE_TOKEN is a project access token with the scope "api" (the
// job's own token may not write issues); the rest is set in every job.
import { text } from "node:stream/consumers";

const { CI_API_V4_URL, CI_PROJECT_ID, ISSUE_TOKEN } = process.env;
const [action, subject = "", title = ""] = process.argv.slice(2);

async function issues(method, path, body) {
  const response = await fetch(`${CI_API_V4_URL}/projects/${CI_PROJECT_ID}/issues${path}`, {
    method,
    headers: { "private-token": ISSUE_TOKEN ?? "", "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} of the issue -> ${response.status} ${await response.text()}`);
  return response.json();
}

const note = (words) => issues("POST", `/${subject}/notes`, { body: words });

const actions = {
  async find() {
    const [issue] = await issues("GET", `?state=opened&per_page=1&labels=${encodeURIComponent(subject)}`);
    if (issue) console.log(`${issue.iid}\n${issue.description}`);
  },
  async open() {
    await issues("POST", "", { title, labels: subject, description: await text(process.stdin) });
  },
  async update() {
    await issues("PUT", `/${subject}`, { description: await text(process.stdin) });
    // An edit notifies nobody.
    await note("The drift is another one now: see the report above.");
  },
  async close() {
    await note("There is no drift any more.");
    await issues("PUT", `/${subject}`, { state_event: "close" });
  },
};

try {
  await actions[action]();
} catch (error) {
  console.error(`issue-gitlab: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
