import * as application from "../../src/emulator/app";
import type { Answer, Json } from "./emulator";

type Application = ReturnType<typeof application.createApp>;
type Parts = Parameters<typeof application.createApp>[0];

/** The applications of this process's emulators, each with what knows its address once it listens. */
const applications: (readonly [site: Parts["site"], app: Application])[] = [];
const { createApp } = application;
Object.assign(application, {
  createApp: (parts: Parts): Application => {
    const app = createApp(parts);
    applications.push([parts.site, app]);
    return app;
  },
});

/** The response. */
export interface Exchanged {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * One request to an emulator of this process without a socket, which takes a quarter of the processor time: for what a
 * test asks and for proxies, never for the provider under test.
 * @throws if a fault drops the connection: there is none
 */
export async function exchange(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): Promise<Exchanged> {
  const { origin, host } = new URL(url);
  // A port may have served several emulators, one after the other.
  const [, app] = applications.findLast(([site]) => site.origin === origin) ?? [];
  if (app === undefined) throw new Error(`no emulator of this process listens at ${origin}`);
  const sent = new Request(url, { method, headers: { host, ...headers }, ...(body !== "" && { body }) });
  // As with a socket, timers go on meanwhile: a test that asks until something has happened would wait forever.
  await new Promise((resolve) => setImmediate(resolve));
  let isDropped = false;
  const connection = {
    get incoming(): undefined {
      isDropped = true;
      return undefined;
    },
  };
  // Only faults that drop the connection read it.
  const response = await app.fetch(sent, connection as unknown as Parameters<typeof app.fetch>[1]);
  if (isDropped) throw new Error(`a fault drops the connection of ${method} ${url}, which has none`);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The same with JSON, which the caller asserts. `apiKey` is omitted for control routes. */
export async function exchangeJson(url: string, method: string, sent?: unknown, apiKey?: string): Promise<Answer> {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { ...authorization, "content-type": "application/json" };
  const answer = await exchange(url, method, headers, sent === undefined ? "" : JSON.stringify(sent));
  // The emulator sends JSON or nothing.
  return { ...answer, body: (answer.text === "" ? {} : JSON.parse(answer.text)) as Json };
}
