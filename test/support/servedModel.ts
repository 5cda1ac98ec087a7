import { createApp } from "../../src/emulator/app";
import { Faults } from "../../src/emulator/control/faults";
import { Inbox } from "../../src/emulator/control/mail";
import { applySeed, checkedSeed } from "../../src/emulator/control/seeding";
import { AcceptedKey } from "../../src/emulator/http/access";
import { RequestLog } from "../../src/emulator/http/requestLog";
import { Service } from "../../src/emulator/model/service";
import { resolveOptions, type EmulatorOptions } from "../../src/emulator/emulatorOptions";
import type { Json } from "./emulator";

const KEY = new AcceptedKey("test-key");

/** The model of an emulator and its routes, without a port. */
export interface ServedModel {
  service: Service;
  /** A request of the API (`/projects/…`) or of the control routes (`/_emulator/…`); fails if it is refused. */
  send(method: string, path: string, body?: Json): Promise<Json>;
  reset(): void;
}

export function servedModel(options: EmulatorOptions = {}): ServedModel {
  const service = new Service(resolveOptions(options), () => ({ status: "finished" }));
  const reset = (): void => applySeed(service, checkedSeed());
  reset();
  const site = { origin: "http://127.0.0.1", isLocal: false, isEverywhere: false, pageToken: "" };
  const app = createApp({
    service,
    faults: new Faults(),
    log: new RequestLog(),
    inbox: new Inbox(),
    key: KEY,
    reset,
    site,
  });
  return {
    service,
    reset,
    send: async (method, path, body) => {
      const response = await app.request(path.startsWith("/_emulator") ? path : `/api/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${KEY.current}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === "" ? {} : JSON.parse(text);
    },
  };
}
