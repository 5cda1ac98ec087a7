import { emailServer } from "../../src/resources/emailServer/emailServerLifecycle";
import { CANARY, harness, PROJECT, withIntegration, type Harness, type Json } from "./harness";

export const SHARED = { projectId: PROJECT, type: "shared" };
export const STANDARD = {
  projectId: PROJECT,
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "mailer",
  password: `${CANARY}-smtp`,
  senderEmail: "auth@example.com",
  senderName: "Example",
};
export const SMTP = ["host", "port", "username", "password", "senderEmail", "senderName"] as const;
export const PATH = `/projects/${PROJECT}/auth/email_server`;
/** A configuration in the service's format. */
export const THEIRS = {
  type: "standard",
  host: "smtp.theirs.example.com",
  port: 25,
  username: "them",
  password: `${CANARY}-theirs`,
  sender_email: "them@example.com",
  sender_name: "Them",
};

export const started = async (...more: [options?: object, client?: object]): Promise<Harness> => {
  const given = await harness(emailServer, ...more);
  await withIntegration(given);
  return given;
};

export const configured = (given: Harness): Promise<Json> => given.get(PATH);
export const setByHand = (given: Harness, set: Json) => given.edit({ kind: "email_server", set });
/** The request log shows secrets as hashes. */
export const patches = async (given: Harness): Promise<string[][]> =>
  (await given.mutations()).map(({ method, body }) => [method, ...Object.keys(body).sort()]);
export const WHOLE = ["PATCH", "host", "password", "port", "sender_email", "sender_name", "type", "username"];
