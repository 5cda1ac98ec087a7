import * as pulumi from "@pulumi/pulumi";
import { isOutput, objectProblems, wordFor } from "../helpers/given";

export interface ProviderArgs {
  /** The API key of the account. Secret. @default the configuration `svc:apiKey` of the stack */
  apiKey?: pulumi.Input<string>;
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
   */
  maxRequestsPerMinute?: pulumi.Input<number>;
}

/**
 * An explicit instance of this provider, one for each account: `new ComputeEndpoint(…, { provider })`. A setting that
 * is left out comes from the configuration of the stack, then from the environment. Changing a setting replaces no
 * resource.
 */
export class Provider extends pulumi.ProviderResource {
  /** The settings as they were given or configured, for the functions: they run in the program's own process. */
  readonly settings: { readonly [Name in keyof ProviderArgs]-?: pulumi.Output<string | undefined> };

  constructor(name: string, args: ProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    refuseBadArguments(name, args);
    const config = new pulumi.Config("svc");
    const key = args.apiKey ?? config.getSecret("apiKey");
    const settings = {
      // Marked whatever it was: the engine keeps a provider's arguments in the state.
      apiKey: key === undefined ? pulumi.output(undefined) : pulumi.secret(key),
      baseUrl: pulumi.output(args.baseUrl ?? config.get("baseUrl")),
      authProvider: pulumi.output(args.authProvider ?? config.get("authProvider")),
      maxRequestsPerMinute: pulumi
        .output(args.maxRequestsPerMinute ?? config.get("maxRequestsPerMinute"))
        .apply((share) => (share === undefined ? undefined : String(share))),
    };
    const inputs = {
      "svc:apiKey": key === undefined ? undefined : settings.apiKey,
      "svc:baseUrl": settings.baseUrl,
      "svc:authProvider": settings.authProvider,
      "svc:quiet": config.get("quiet"),
      "svc:maxRequestsPerMinute": settings.maxRequestsPerMinute,
      "svc:allowHttp": config.get("allowHttp"),
      "svc:allowUnlistedSizes": config.get("allowUnlistedSizes"),
      "svc:strictPlan": config.get("strictPlan"),
      "svc:offlinePlan": config.get("offlinePlan"),
    };
    super("pulumi-nodejs", name, inputs, opts);
    this.settings = settings;
  }
}

/** With the type of each. */
const ARGS = {
  apiKey: "string",
  baseUrl: "string",
  authProvider: "string",
  maxRequestsPerMinute: "number",
} as const satisfies Record<keyof ProviderArgs, string>;

/** A program without types can give anything. */
function refuseBadArguments(name: string, args: ProviderArgs): void {
  const problems = objectProblems(args, "", { known: Object.keys(ARGS) });
  for (const [argument, type] of problems.length > 0 ? [] : Object.entries(ARGS)) {
    const value: unknown = Reflect.get(args, argument);
    if (value === undefined || typeof value === type || isOutput(value) || wordFor(value) === "a promise") continue;
    problems.push(`${argument}: must be a ${type} or an Output of one, not ${wordFor(value)}`);
  }
  if (problems.length > 0) throw new Error(`Provider "${name}": ${problems.join("; ")}`);
}
