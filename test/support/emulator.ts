import { startEmulator, type Emulator, type EmulatorOptions } from "../../src/emulator";

// The emulator is accessed through fetch only. JSON is typed loosely here: the tests assert its content.
export type Json = Record<string, unknown>;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: Json = {};
  try {
    body = JSON.parse(text) as Json; // The caller asserts its shape.
  } catch {
    // Empty and HTML responses are compared as text.
  }
  return { status: response.status, headers: response.headers, text, body };
}

export interface Target {
  baseUrl: string;
  apiKey?: string;
}

/** Seconds may pass between two calls of a test, and the server may just be closing a kept connection. */
const OWN_CONNECTION = { connection: "close" };

/** An authorised API call, with an optional JSON body. */
export async function api(target: Target, method: string, path: string, body?: unknown): Promise<Answer> {
  const authorization = `Bearer ${target.apiKey ?? "test-key"}`;
  const response =
    body === undefined
      ? await fetch(target.baseUrl + path, { method, headers: { authorization, ...OWN_CONNECTION } })
      : await fetch(target.baseUrl + path, {
          method,
          headers: { authorization, "content-type": "application/json", ...OWN_CONNECTION },
          body: JSON.stringify(body),
        });
  return read(response);
}

/** A call of a control route. */
export const control = async (url: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  read(
    await fetch(`${url}/_emulator${path}`, {
      method,
      headers: OWN_CONNECTION,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );

const running: Emulator[] = [];

/** An emulator with fast computes, closed after the test. */
export async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ activationMs: 20, ...options });
  running.push(emulator);
  return emulator;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()));
});

const PATIENCE_MS = 10_000;

/** Polls until the value passes. */
export async function until<T>(look: () => Promise<T>, passes: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await look();
    if (passes(value)) return value;
    if (Date.now() > deadline) throw new Error(`still not there: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** The object under a key of a response. */
export function record(body: Json, key: string): Json {
  const value = body[key];
  if (!isJson(value)) throw new Error(`no object under ${key}: ${JSON.stringify(body)}`);
  return value;
}

/** The list of objects under a key of a response. */
export function records(body: Json, key: string): Json[] {
  const value = body[key];
  if (!Array.isArray(value)) throw new Error(`no list under ${key}: ${JSON.stringify(body)}`);
  return value.filter(isJson);
}

export const DEMO = "/projects/prj-demo";
export const PRIMARY = "ep-demo-main-10000001";

export const endpoint = async (target: Target, id: string): Promise<Json> =>
  record((await api(target, "GET", `${DEMO}/endpoints/${id}`)).body, "endpoint");

export const settled = (target: Target, id: string, state: string): Promise<Json> =>
  until(
    () => endpoint(target, id),
    (found) => found.current_state === state && found.pending_state === undefined,
  );

/** Creates a compute and returns its record. */
export async function createCompute(target: Target, attributes: Json): Promise<Json> {
  const { status, body } = await api(target, "POST", `${DEMO}/endpoints`, { endpoint: attributes });
  if (status !== 201) throw new Error(`not created: ${status} ${JSON.stringify(body)}`);
  return record(body, "endpoint");
}

export const INTEGRATION = { project_id: "prj-demo", auth_provider: "supported_provider", branch_id: "br-main" };

export const integrate = (target: Target, more: Json = {}): Promise<Answer> =>
  api(target, "POST", "/projects/auth/create", { ...INTEGRATION, ...more });

/** The demo project from the control route. */
export async function demoState(emulator: Emulator): Promise<Json> {
  const { body } = await control(emulator.url, "GET", "/state");
  const found = records(body, "projects").find(({ id }) => id === "prj-demo");
  if (found === undefined) throw new Error("no demo project");
  return found;
}

/** The service's error body: an id, a code that may be empty, and a message. */
export const ERROR_BODY = {
  request_id: expect.stringMatching(/.+/),
  code: expect.any(String),
  message: expect.stringMatching(/.+/),
};

/** A separate email server, as in a request. */
export const STANDARD_EMAIL = {
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "mailer",
  password: "smtp-password",
  sender_email: "no-reply@example.com",
  sender_name: "Example",
};
