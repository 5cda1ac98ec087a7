import type { Context } from "hono";
import { html } from "hono/html";
import type { Env } from "../http/route";
import type { StoredProject } from "../model/records";

/** Nothing external, nothing inline, no framing. A form's target is not limited: it ends at the application. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

type Content = ReturnType<typeof html>;

function answer(
  context: Context<Env>,
  title: string,
  content: Content,
  status: 200 | 400,
): Response | Promise<Response> {
  for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
  return context.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>${title}</title>
          <link rel="icon" href="data:," />
          <link rel="stylesheet" href="/_page/page.css" />
        </head>
        <body>
          <main class="entrance">
            <h1>${title}</h1>
            ${content}
          </main>
        </body>
      </html>`,
    status,
  );
}

/** A request that cannot be answered by a redirect, because nothing has allowed its address. */
export const refusalPage = (context: Context<Env>, why: string): Response | Promise<Response> =>
  answer(context, "Nobody can sign in here", html`<p role="alert">${why}.</p>`, 400);

interface SignIn {
  readonly project: StoredProject;
  /** The parameters of the request, which the form repeats. */
  readonly asked: object;
  /** Whether only this machine reaches the page: it names the users. Otherwise it asks for the user and the API key. */
  readonly isLocal: boolean;
  readonly problem?: string;
}

/** Where a person becomes one of the project's users. There are no passwords: it is an emulator. */
export function signInPage(
  context: Context<Env>,
  { project, asked, isLocal, problem }: SignIn,
): Response | Promise<Response> {
  const hidden = Object.entries(asked).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${String(value)}" />`,
  );
  const choice = project.users.map(
    ({ id, email, name }) =>
      html`<p>
        <button name="user" value="${id}">${name === undefined ? email : `${name}, ${email}`}</button>
      </p>`,
  );
  const entry = html`<p>
      <label>E-mail address or id of a user <input name="user" autocomplete="off" required /></label>
    </p>
    <p>
      <label>API key of the emulator <input name="api_key" type="password" autocomplete="off" required /></label>
    </p>
    <p><button>Sign in</button></p>`;
  const none = html`<p>The project has no user: declare an AuthUser, or create one with POST /projects/auth/user.</p>`;
  return answer(
    context,
    `Sign in to ${project.name}`,
    html`<p>The emulator has no passwords: choose the user to be.</p>
      ${problem !== undefined && html`<p role="alert">${problem}</p>`}
      <form method="post">
        ${hidden} ${project.users.length === 0 ? none : isLocal ? choice : entry}
        <p><button name="decision" value="deny" formnovalidate>Do not sign in</button></p>
      </form>`,
    problem === undefined ? 200 : 400,
  );
}
