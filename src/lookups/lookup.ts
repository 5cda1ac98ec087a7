import * as pulumi from "@pulumi/pulumi";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import { messageOf } from "../contract/untrusted";
import type { ArgumentsOf } from "../program/inputs";
import type { ReadSetting } from "../contract/settings";
import { isObject, isOutput, objectProblems, wordFor } from "../helpers/given";
import { argumentProblems, expectedOf, type Query } from "./queries/query";
import type { ProjectLookupArgs } from "./queries/types";
import type { LookupOptions } from "./lookupOptions";
import { accountOf, knownSettings, readerOf, settingsOf, stackSettings, type Account } from "./account";

export interface Lookup<Args extends ProjectLookupArgs, Result> {
  promise(args: Args, opts?: LookupOptions): Promise<Result>;
  output(args: ArgumentsOf<Args>, opts?: LookupOptions): pulumi.Output<Result>;
}

/**
 * Both forms of a function. It runs in the program's own process, also in previews (docs/design/decisions.md,
 * Functions).
 */
export function lookup<Args extends ProjectLookupArgs, Result>(query: Query<Args, Result>): Lookup<Args, Result> {
  const { name, find } = query;
  const refuse = (problems: readonly string[]): void => {
    if (problems.length > 0) throw runError(problems.join("; "));
  };
  // The engine shows a RunError as its message alone, without a stack.
  const runError = (words: string) => new pulumi.RunError(`${name}: ${words}`);
  const run = async (args: Args, settings: () => Promise<ReadSetting> | ReadSetting): Promise<Result> => {
    refuse(textProblems(query, args));
    let account: Account | undefined;
    try {
      const mocks = mocksOfTest();
      // Called as the SDK calls mocks for a function of a plugin. They return this function's result.
      if (mocks !== undefined) return (await mocks.call({ token: `svc:index:${name}`, inputs: args })) as Result;
      account = accountOf(await settings());
      return await find(account, args);
    } catch (thrown) {
      const advice = account?.adviceOn(thrown) ?? "";
      throw runError(messageOf(thrown) + (advice === "" ? "" : `. ${advice}`));
    }
  };
  return {
    promise: async (args, opts) => {
      refuse(optionProblems(opts));
      const { provider } = opts ?? {};
      const ofStack = stackSettings();
      return run(args, async () => (provider === undefined ? ofStack : readerOf(await knownSettings(provider))));
    },
    output: (args, opts) => {
      refuse([...(isOutput(args) ? [] : objectProblems(args, "", expectedOf(query))), ...optionProblems(opts)]);
      const { provider } = opts ?? {};
      const ofStack = stackSettings();
      // Resolved, the arguments have the type `Args`: `ArgumentsOf` adds an Input at each place.
      const given = pulumi.output(args) as unknown as pulumi.Output<Args>;
      const found =
        provider === undefined
          ? given.apply((known) => run(known, () => ofStack))
          : pulumi.all([given, settingsOf(provider)]).apply(([known, settings]) =>
              // As above: `all` passes resolved values.
              run(known as Args, () => readerOf(settings)),
            );
      // The results are plain data: unwrapping changes nothing in their type.
      return found as pulumi.Output<Result>;
    },
  };
}

/** The mocks of `pulumi.runtime.setMocks`: in a unit test of a program nothing is sent. */
function mocksOfTest(): pulumi.runtime.Mocks | undefined {
  const monitor: unknown = pulumi.runtime.getMonitor();
  return monitor instanceof MockMonitor ? monitor.mocks : undefined;
}

function textProblems(query: Pick<Query<never, unknown>, "others">, args: unknown): string[] {
  if (isOutput(args)) return ["the arguments are an Output: pass them to the form that ends in Output"];
  return argumentProblems(query, args, "; pass an Output to the form that ends in Output");
}

function optionProblems(opts: unknown = {}): string[] {
  const problems = objectProblems(opts, "opts", { known: ["provider"] });
  const provider: unknown = isObject(opts) ? opts["provider"] : undefined;
  // Any object with a Provider's settings is accepted: it may come from another copy of this package.
  if (provider === undefined || (isObject(provider) && isObject(provider["settings"]))) return problems;
  return [...problems, `opts.provider: must be an svc.Provider, not ${wordFor(provider)}`];
}
