import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import type * as sessions from "../runtime/session";
import { requestTrace, type ReadSetting } from "../contract/settings";
import type { Provider } from "../program/Provider";
import type { Asked } from "./queries/query";

/** The account at the service that a function reads from. */
export interface Account extends Asked {
  /** Further advice on an error; often empty. */
  readonly adviceOn: (thrown: unknown) => string;
}

/** The settings of an explicit `Provider`, as given or configured. */
export type ProviderSettings = {
  readonly [Name in keyof Provider["settings"]]?: string | undefined;
};

let session: sessions.Session | undefined;

/**
 * The account for these settings, with one client per account in the process.
 * @throws all problems of the settings at once.
 */
export function accountOf(read: ReadSetting): Account {
  // Loaded by the first call: importing pulumi-svc must load neither axios nor zod.
  const { Session } = createRequire(__filename)("../runtime/session") as typeof sessions;
  const all = (session ??= new Session(() => undefined, { client: { trace: requestTrace() } }));
  const { client, settings } = all.account(read);
  return { client, authProvider: settings.authProvider, adviceOn: (thrown) => all.adviceOn(thrown, read) };
}

/** The settings of the stack. Missing ones come from the environment (contract/settings). */
export function stackSettings(): ReadSetting {
  const config = new pulumi.Config("svc");
  return (name) => config.get(name);
}

export function readerOf(settings: ProviderSettings): ReadSetting {
  const ofStack = stackSettings();
  return (name) => {
    switch (name) {
      // Not used by a look-up.
      case "quiet":
      case "allowUnlistedSizes":
      case "maxSizeCu":
      case "strictPlan":
      case "offlinePlan":
        return undefined;
      // Not an argument of a Provider.
      case "allowHttp":
        return ofStack(name);
      default:
        return settings[name];
    }
  };
}

/**
 * The settings as one Output. Not marked as secret although the key is: they are only used for requests, and the
 * results contain none of them.
 */
export function settingsOf(provider: Provider): pulumi.Output<ProviderSettings> {
  // Picked by name: the Provider may come from another copy of this package, with fewer settings.
  const { apiKey, apiKeyEnv, apiKeyFile, baseUrl, authProvider, maxRequestsPerMinute } = provider.settings;
  return pulumi.unsecret(pulumi.output({ apiKey, apiKeyEnv, apiKeyFile, baseUrl, authProvider, maxRequestsPerMinute }));
}

/** @throws when they are unknown: in a preview, they may come from a resource that does not exist yet. */
export async function knownSettings(provider: Provider): Promise<ProviderSettings> {
  // Both are marked internal in the SDK's types; they are public on every Output since 1.0.
  const settings = settingsOf(provider) as pulumi.Output<ProviderSettings> & {
    isKnown: Promise<boolean>;
    promise(): Promise<ProviderSettings>;
  };
  if (await settings.isKnown) return settings.promise();
  throw new Error(
    "the settings of the provider are not known yet in this preview. Use the form of this function that ends in Output; its result is then unknown too",
  );
}
