import { z } from "zod";
import { newId, now } from "../model/records";
import { notFound } from "../model/refusal";
import type { Service } from "../model/service";
import { findNamedIntegration } from "../model/store";
import { email } from "../routes/authIntegrationRoutes";
import { sendBySmtp } from "./smtp";

/** A header is one line. */
const line = z.string().regex(/^\P{Cc}*$/u, "must not contain control characters");

export const mailBody = z.strictObject({
  project_id: z.string().optional(),
  to: email.max(320).and(line),
  subject: line.max(900).default("A message of the emulator"),
  text: z.string().max(100_000).default("This message was sent by POST /_emulator/mail.\n"),
});

interface InboxMessage {
  id: string;
  project_id: string;
  to: string;
  subject: string;
  text: string;
  created_at: string;
}

const KEPT_MESSAGES = 200;

/** Messages for the shared server, oldest first: it delivers nothing. */
export class Inbox {
  private messages: InboxMessage[] = [];
  private readonly listeners: (() => void)[] = [];

  add(message: InboxMessage): void {
    this.messages.push(message);
    if (this.messages.length > KEPT_MESSAGES) this.messages.shift();
    this.changed();
  }

  find(messageId: string): InboxMessage {
    const found = this.messages.find(({ id }) => id === messageId);
    if (found === undefined) throw notFound("there is no message with this id in the inbox");
    return found;
  }

  list(): readonly InboxMessage[] {
    return this.messages;
  }

  clear(): void {
    this.messages = [];
    this.changed();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Sends a message like the managed auth: by the project's own server, otherwise to the inbox. */
export async function sendMail(
  { store, options }: Service,
  inbox: Inbox,
  { project_id, ...message }: z.output<typeof mailBody>,
): Promise<object> {
  const [project] = findNamedIntegration(store, project_id);
  const server = project.email_server;
  if (server.type === "shared") {
    const kept = { id: newId(), project_id: project.id, ...message, created_at: now() };
    inbox.add(kept);
    return { delivered: "inbox", ...kept };
  }
  const { authenticated } = await sendBySmtp(server, message, { remote: options.mailRemote });
  const { host, port } = server;
  return { delivered: "smtp", project_id: project.id, host, port, authenticated };
}
