import * as pulumi from "@pulumi/pulumi";
import { givenProblem, KEY_FORMS, type KeyForm } from "../contract/apiKey";
import { PACKAGES, settingKey } from "../contract/pointer";
import type { SettingName } from "../contract/settings";
import { isOutput, mustBe, objectProblems, wordFor } from "../helpers/given";
import { usedDoor } from "./door";
import { ownerOf } from "./owner";
import { withInheritedAliases, withOtherDoor } from "./resourceOptions";

export interface ProviderArgs {
  /**
   * The API key of the account. Secret. The state stores it encrypted; for `apiKeyEnv` and `apiKeyFile` it stores
   * only the name. Give one of the three. A missing value (`undefined`, a blank text) is an error.
   * @default the configuration `svc:apiKey`, `svc:apiKeyEnv` or `svc:apiKeyFile` of the stack
   */
  apiKey?: pulumi.Input<string>;
  /** The name of the environment variable that holds the API key. It is read by each command, so a new key needs no `pulumi up`. */
  apiKeyEnv?: pulumi.Input<string>;
  /**
   * The path of the file that holds the API key, relative to the folder of Pulumi.yaml. It is read by each command, and again
   * when the service refuses the key.
   */
  apiKeyFile?: pulumi.Input<string>;
  /** The versioned API root, such as `https://…/api/v2`. @default the configuration `svc:baseUrl` */
  baseUrl?: pulumi.Input<string>;
  /**
   * The short name of the auth provider for resources that do not name one.
   * @default the configuration `svc:authProvider`
   */
  authProvider?: pulumi.Input<string>;
  /**
   * The most requests per minute, a whole number, 10 or more: this job's share of the limit of the account.
   * @default the configuration `svc:maxRequestsPerMinute`; if that is unset, no limit
   * @integer
   */
  maxRequestsPerMinute?: pulumi.Input<number>;
  /**
   * The largest size that a compute may be declared with, in compute units (CU): a plan with a larger one fails.
   * @default the configuration `svc:maxSizeCu`; if that is unset, no limit
   */
  maxSizeCu?: pulumi.Input<number>;
}

/**
 * An explicit instance of this provider, one for each account: `new ComputeEndpoint(…, { provider })`. A setting that
 * is left out comes from the configuration of the stack, then from the environment. Changing a setting replaces no
 * resource.
 */
export class Provider extends pulumi.ProviderResource {
  /** The settings as given or configured, for the functions, which run in the program's own process. */
  readonly settings: { readonly [Name in keyof ProviderArgs]-?: pulumi.Output<string | undefined> };

  constructor(name: string, args: ProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    refuseBadArguments(ownerOf("Provider", name), args);
    const config = new pulumi.Config("svc");
    // A provider with its own key, in any form, takes no key from the configuration.
    const isOwn = KEY_FORMS.some((form) => form in args);
    const key = isOwn ? ownKey(name, args, "apiKey") : config.getSecret("apiKey");
    const settings = {
      // Marked secret even if it was not: the engine keeps a provider's arguments in the state.
      apiKey: key === undefined ? pulumi.output(undefined) : pulumi.secret(key),
      apiKeyEnv: pulumi.output(isOwn ? ownKey(name, args, "apiKeyEnv") : config.get("apiKeyEnv")),
      apiKeyFile: pulumi.output(isOwn ? ownKey(name, args, "apiKeyFile") : config.get("apiKeyFile")),
      baseUrl: pulumi.output(args.baseUrl ?? config.get("baseUrl")),
      authProvider: pulumi.output(args.authProvider ?? config.get("authProvider")),
      maxRequestsPerMinute: asText(args.maxRequestsPerMinute ?? config.get("maxRequestsPerMinute")),
      maxSizeCu: asText(args.maxSizeCu ?? config.get("maxSizeCu")),
    };
    const all: Record<SettingName, pulumi.Input<string | undefined>> = {
      ...settings,
      quiet: config.get("quiet"),
      allowHttp: config.get("allowHttp"),
      allowUnlistedSizes: config.get("allowUnlistedSizes"),
      strictPlan: config.get("strictPlan"),
      offlinePlan: config.get("offlinePlan"),
    };
    const ofPackage = PACKAGES[usedDoor()];
    const type = `pulumi:providers:${ofPackage}`;
    const inputs = Object.fromEntries(
      Object.entries(all).map(([setting, value]) => [settingKey(type, setting), value]),
    );
    // With the alias the engine would ask this provider for what it has not moved yet. The SDK's provider can serve no
    // resource that the native plugin has stored (docs/design/native.md, The entry pulumi-svc/native).
    const withAliases = usedDoor() === "native" ? withOtherDoor : withInheritedAliases;
    super(ofPackage, name, inputs, withAliases(name, type, opts ?? {}));
    this.settings = settings;
  }
}

/** As a setting is written in the configuration. */
const asText = (value: pulumi.Input<number | string> | undefined): pulumi.Output<string | undefined> =>
  pulumi.output(value).apply((known) => (known === undefined ? undefined : String(known)));

/** The arguments and their types. */
const ARGS = {
  apiKey: "string",
  apiKeyEnv: "string",
  apiKeyFile: "string",
  baseUrl: "string",
  authProvider: "string",
  maxRequestsPerMinute: "number",
  maxSizeCu: "number",
} as const satisfies Record<keyof ProviderArgs, "string" | "number">;

/** A program without types can give anything. */
function refuseBadArguments(owner: string, args: ProviderArgs): void {
  const problems = objectProblems(args, "", { known: Object.keys(ARGS) });
  for (const [argument, type] of problems.length > 0 ? [] : Object.entries(ARGS)) {
    const value: unknown = Reflect.get(args, argument);
    if (value === undefined || typeof value === type || isLater(value)) continue;
    problems.push(`${argument}: ${mustBe(`a ${type} or an Output of one`, type, value)}`);
  }
  problems.push(...(problems.length > 0 ? [] : keyProblems(args)));
  if (problems.length > 0) throw new pulumi.RunError(`${owner}: ${problems.join("; ")}`);
}

const isLater = (value: unknown): boolean => isOutput(value) || wordFor(value) === "a promise";

function keyProblems(args: ProviderArgs): string[] {
  const given = KEY_FORMS.filter((form) => form in args);
  const problems = given.flatMap((form) => (isLater(args[form]) ? [] : (givenProblem(form, args[form]) ?? [])));
  return problems.length === 0 && given.length > 1 ? [`${given.join(" and ")}: give one of them`] : problems;
}

/** A form of the key that is given. An Output is checked once its value is known. */
function ownKey(name: string, args: ProviderArgs, form: KeyForm): pulumi.Output<string | undefined> | undefined {
  if (!(form in args)) return undefined;
  return pulumi.output(args[form]).apply((value) => {
    const problem = givenProblem(form, value);
    if (problem !== undefined) throw new pulumi.RunError(`Provider "${name}": ${problem}`);
    return value;
  });
}
