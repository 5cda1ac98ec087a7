import * as pulumi from "@pulumi/pulumi";
import { messageOf } from "../dynamic/errors";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { ReadSetting } from "../dynamic/settings";
import { accountOf, knownSettings, readerOf, settingsOf, stackSettings, type Account } from "./account";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

export interface Lookup<Args extends ProjectLookupArgs, Result> {
  promise(args: Args, opts?: LookupOptions): Promise<Result>;
  output(args: ArgumentsOf<Args>, opts?: LookupOptions): pulumi.Output<Result>;
}

/** Both forms of a function. It runs in the program's own process, in previews too (design.md, "Decisions" 13). */
export function lookup<Args extends ProjectLookupArgs, Result>(
  name: string,
  find: (account: Account, args: Args) => Promise<Result>,
): Lookup<Args, Result> {
  const run = async (args: Args, settings: () => Promise<ReadSetting> | ReadSetting): Promise<Result> => {
    try {
      checkTexts(args);
      return await find(accountOf(await settings()), args);
    } catch (thrown) {
      // The engine shows a RunError as its message alone, without a stack.
      throw new pulumi.RunError(`${name}: ${messageOf(thrown)}`);
    }
  };
  return {
    promise: (args, { provider } = {}) => {
      const ofStack = stackSettings();
      return run(args, async () => (provider === undefined ? ofStack : readerOf(await knownSettings(provider))));
    },
    output: (args, { provider } = {}) => {
      const ofStack = stackSettings();
      // Resolved, the arguments are what `Args` says: `ArgumentsOf` is the same with an Input at each place.
      const given = pulumi.output(args) as unknown as pulumi.Output<Args>;
      const found =
        provider === undefined
          ? given.apply((known) => run(known, () => ofStack))
          : pulumi.all([given, settingsOf(provider)]).apply(([known, settings]) =>
              // As above: `all` hands over what is resolved already.
              run(known as Args, () => readerOf(settings)),
            );
      // The results are plain data: unwrapping changes nothing in their type.
      return found as pulumi.Output<Result>;
    },
  };
}

/** All arguments of all functions are texts. */
function checkTexts(args: ProjectLookupArgs): void {
  const given = Object.entries({ ...args, projectId: args.projectId });
  const bad = given.filter(
    ([name, value]) => (typeof value !== "string" || value === "") && (name === "projectId" || value !== undefined),
  );
  if (bad.length === 0) return;
  const names = bad.map(([name]) => `"${name}"`).join(" and ");
  throw new Error(`${names} must be a text that is not empty; an Output goes to the form that ends in Output`);
}
