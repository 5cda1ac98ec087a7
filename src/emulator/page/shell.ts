import { html } from "hono/html";

/** A list in a project's auth section: a heading, the items, and the text for an empty list. */
const list = (kind: string, heading: string) =>
  html` <section class="block">
    <h4>${heading}</h4>
    <ul class="items" data-list="${kind}"></ul>
    <p class="none">none</p>
    ${
      kind === "domain" &&
      html`<form class="inline" data-form="domain">
        <label
          ><span class="unseen">New domain</span>
          <input
            name="domain"
            type="url"
            required
            placeholder="https://app.example.com"
            autocomplete="off"
            spellcheck="false"
        /></label>
        <button>Add domain</button>
      </form>`
    }
    ${kind === "signing_key" && html`<button type="button" class="inline" data-new-key>New key</button>`}
  </section>`;

/**
 * The page without data, which arrives as text by events. Repeated parts are templates. Tables have explicit roles,
 * because a narrow window uses another layout, which removes the implicit ones.
 */
export const shell = html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>Emulator</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href="/_page/page.css" />
      <script type="module" src="/_page/page.mjs"></script>
    </head>
    <body>
      <a class="skip" href="#projects">Skip to the projects</a>
      <a class="skip" href="#faults">Skip to the faults</a>
      <a class="skip" href="#requests">Skip to the requests</a>

      <header>
        <h1>Emulator</h1>
        <code id="base-url"></code>
        <p id="totals"></p>
        <label id="span-choice"
          >Time line
          <select id="span">
            <option value="60">1 minute</option>
            <option value="300">5 minutes</option>
            <option value="1800">30 minutes</option>
          </select>
        </label>
        <p id="connection" role="status" data-state="connecting">connecting</p>
      </header>

      <noscript><p class="entrance">This page needs JavaScript.</p></noscript>

      <section id="need-token" class="entrance" hidden>
        <h2>Open the address that the emulator printed</h2>
        <p>
          It ends with <code>#token=…</code>, and each start of the emulator has a new token. An address without it, or
          with that of an earlier start, shows nothing.
        </p>
      </section>

      <section id="need-key" class="entrance" hidden>
        <h2>This emulator can be reached from other machines</h2>
        <p>
          Its control routes, and this page, need its API key. The page keeps the key in memory until it is reloaded.
        </p>
        <form id="key-form" class="inline">
          <label>API key <input name="key" type="password" required autocomplete="off" /></label>
          <button>Open</button>
        </form>
        <p id="key-refused" role="alert"></p>
      </section>

      <main id="content" hidden>
        <div id="main">
          <div role="search" class="inline">
            <label
              >Filter
              <input
                id="filter"
                type="search"
                placeholder="name or id of a compute, branch or project"
                autocomplete="off"
                spellcheck="false"
            /></label>
            <p id="found" class="muted" role="status"></p>
          </div>
          <div id="projects" tabindex="-1"></div>
        </div>
        <div id="side">
          <section id="faults" tabindex="-1" aria-labelledby="faults-heading">
            <h2 id="faults-heading">Faults</h2>
            <form id="fault-form">
              <label
                >What happens
                <select name="what">
                  <optgroup label="To a request">
                    <option value="503">fails with 503</option>
                    <option value="429">fails with 429, try again in 1 s</option>
                    <option value="done">is done, but answered with 502</option>
                    <option value="reset">connection is reset</option>
                    <option value="slow">takes 3 s longer</option>
                  </optgroup>
                  <optgroup label="To an operation">
                    <option value="start-fails">a start fails: no capacity</option>
                    <option value="apply-fails">a change cannot be applied</option>
                    <option value="stuck">a start never ends</option>
                  </optgroup>
                </select>
              </label>
              <label
                >Request
                <select name="method">
                  <option value="">any</option>
                  <option>GET</option>
                  <option>POST</option>
                  <option>PATCH</option>
                  <option>DELETE</option>
                </select>
              </label>
              <label>Times <input name="times" type="number" min="1" max="999" value="1" required /></label>
              <button>Let the next fail</button>
            </form>
            <ul class="items" id="fault-list"></ul>
            <button type="button" id="clear-faults" hidden>Clear all faults</button>
          </section>

          <section id="mail" tabindex="-1" aria-labelledby="mail-heading">
            <div class="heading">
              <h2 id="mail-heading">Mail</h2>
              <button type="button" id="clear-mail" hidden>Clear inbox</button>
            </div>
            <ul id="mail-list"></ul>
            <p class="none" id="no-mail">No message yet.</p>
          </section>

          <section id="refusals" tabindex="-1" aria-labelledby="refusals-heading" hidden>
            <h2 id="refusals-heading">Refused connections</h2>
            <ul class="items" id="refusal-list"></ul>
            <p class="none">none</p>
          </section>

          <section id="requests" tabindex="-1" aria-labelledby="requests-heading">
            <div class="heading">
              <h2 id="requests-heading">Requests</h2>
              <label><input type="checkbox" id="changes-only" /> changes only</label>
              <button type="button" id="clear-requests">Clear</button>
            </div>
            <table role="table" id="log">
              <caption class="unseen">
                The latest requests, newest first
              </caption>
              <thead role="rowgroup">
                <tr role="row">
                  <th role="columnheader" scope="col">Time</th>
                  <th role="columnheader" scope="col">Method</th>
                  <th role="columnheader" scope="col">Path</th>
                  <th role="columnheader" scope="col">Status</th>
                  <th role="columnheader" scope="col" class="number">ms</th>
                </tr>
              </thead>
              <tbody role="rowgroup"></tbody>
            </table>
            <p class="none" id="no-requests">No request yet.</p>
          </section>
        </div>
      </main>

      <section id="notice" aria-label="What to do next" hidden>
        <p role="status" tabindex="-1" data-text></p>
        <div class="commands"></div>
        <button type="button" id="close-notice">Close</button>
      </section>

      <dialog id="compute-dialog" aria-labelledby="compute-heading">
        <h2 id="compute-heading" data-title></h2>
        <dl data-facts></dl>
        <div class="inline">
          <button type="button" data-action="start">Start</button>
          <button type="button" data-action="suspend">Suspend</button>
          <button type="button" data-action="restart">Restart</button>
        </div>
        <div class="inline" data-connection>
          <button type="button" data-copy>Copy connection string</button>
          <button type="button" data-show>Show connection string</button>
        </div>
        <p role="status" data-said></p>
        <form method="dialog" data-form="size">
          <fieldset>
            <legend>Change the size by hand</legend>
            <label
              >From
              <select name="min" aria-label="From, CU"></select
            ></label>
            <label
              >to
              <select name="max" aria-label="To, CU"></select>
              CU</label
            >
            <button>Change size</button>
          </fieldset>
        </form>
        <form method="dialog" data-form="move">
          <fieldset>
            <legend>Move by hand</legend>
            <label
              >To branch
              <select name="branch"></select
            ></label>
            <button>Move</button>
          </fieldset>
        </form>
        <section data-watched>
          <h3>Connections</h3>
          <ul class="items" data-connections></ul>
          <p class="none">none</p>
        </section>
        <h3>Latest operations</h3>
        <ol class="items" data-operations></ol>
        <p class="none">none</p>
        <div class="buttons">
          <button type="button" class="danger" data-delete>Delete this compute</button>
          <button type="button" data-close>Close</button>
        </div>
      </dialog>

      <dialog id="delete-dialog" aria-labelledby="delete-heading">
        <h2 id="delete-heading" data-title></h2>
        <p data-text></p>
        <div class="buttons">
          <button type="button" class="danger" data-delete>Delete</button>
          <button type="button" data-close autofocus>Keep it</button>
        </div>
      </dialog>

      <dialog id="value-dialog" aria-labelledby="value-heading">
        <h2 id="value-heading" data-title></h2>
        <textarea readonly rows="6" aria-labelledby="value-heading"></textarea>
        <div class="buttons"><button type="button" data-close>Close</button></div>
      </dialog>

      <template id="project-template">
        <section class="project">
          <h2>
            <span data-text="name"></span> <code data-text="id"></code> <span class="muted" data-text="region"></span>
          </h2>
          <table role="table" class="computes">
            <caption class="unseen">
              Branches and computes
            </caption>
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">Compute</th>
                <th role="columnheader" scope="col">Type</th>
                <th role="columnheader" scope="col">State</th>
                <th role="columnheader" scope="col">Size</th>
                <th role="columnheader" scope="col" class="axis">
                  <span>Operations, <span data-text="span"></span></span><span>now</span>
                </th>
              </tr>
            </thead>
          </table>
          <button type="button" data-whole hidden></button>
          <h3>Auth</h3>
          <div class="auth">
            <section class="block">
              <h4>Integration</h4>
              <ul class="items" data-list="integration"></ul>
              <p class="none">none</p>
            </section>
            ${list("oauth_provider", "OAuth providers")} ${list("domain", "Domains")} ${list("user", "Users")}
            ${list("signing_key", "Signing keys")} ${list("key_set", "Key sets")}
            <section class="block">
              <h4>E-mail server</h4>
              <p data-text="email"></p>
            </section>
          </div>
        </section>
      </template>

      <template id="branch-template">
        <tbody role="rowgroup" class="branch">
          <tr role="row">
            <th role="rowheader" scope="rowgroup" colspan="5">
              <div class="line">
                <button type="button" class="link" data-fold aria-expanded="true">
                  <span data-text="name"></span> <code data-text="id"></code>
                </button>
                <span class="badge" data-text="default"></span>
                <span class="muted" data-text="computes"></span>
                <button type="button" class="quiet" data-delete>Delete</button>
              </div>
            </th>
          </tr>
        </tbody>
      </template>

      <template id="compute-template">
        <tr role="row" class="compute">
          <th role="rowheader" scope="row">
            <button type="button" class="link" data-open data-text="id"></button>
            <span class="muted" data-text="name"></span>
          </th>
          <td role="cell" data-text="type"></td>
          <td role="cell">
            <span class="state" data-text="state"></span> <span class="muted" data-text="connections"></span>
          </td>
          <td role="cell" class="size" data-text="size"></td>
          <td role="cell" class="time"><ol class="strip"></ol></td>
        </tr>
      </template>

      <template id="item-template">
        <li>
          <span class="what"
            ><span data-text="what"></span> <span class="muted" data-text="more"></span>
            <a target="_blank" rel="noreferrer" hidden>discovery for sign-in</a></span
          >
        </li>
      </template>

      <template id="mail-template">
        <li>
          <details>
            <summary>
              <span data-text="subject"></span> <span class="muted" data-text="to"></span>
              <time class="muted" data-text="at"></time>
            </summary>
            <pre data-text="message"></pre>
          </details>
        </li>
      </template>

      <template id="refusal-template">
        <li>
          <details>
            <summary>
              <time class="muted" data-text="at"></time> <code data-text="code"></code>
              <span data-text="compute"></span>
            </summary>
            <pre data-text="detail"></pre>
          </details>
        </li>
      </template>

      <template id="request-template">
        <tr role="row">
          <td role="cell"><time data-text="at"></time></td>
          <td role="cell" data-text="method"></td>
          <td role="cell" class="path">
            <details>
              <summary><bdi dir="ltr" data-text="path"></bdi></summary>
              <pre data-text="detail"></pre>
            </details>
          </td>
          <td role="cell" class="status" data-text="status"></td>
          <td role="cell" class="number" data-text="duration"></td>
        </tr>
      </template>
    </body>
  </html> `;
