// Not in helpers/connectionUri.ts, which loads no SDK.
import * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { connectionUri, optionNameProblems, type ConnectionUriOptions } from "../helpers/connectionUri";
import { isOutput } from "../helpers/given";

/** As `connectionUri`, with options that may not be known yet. The result is a secret when a password is given. */
export function connectionUriOutput(options: ArgumentsOf<ConnectionUriOptions>): pulumi.Output<string> {
  const problems = isOutput(options) ? [] : optionNameProblems(options);
  // The engine shows a RunError as its message alone, without a stack.
  if (problems.length > 0) throw new pulumi.RunError(`connectionUriOutput: ${problems.join("; ")}`);
  // Resolved, the options have the type that `connectionUri` takes: `ArgumentsOf` adds an Input at each place.
  const given = pulumi.output(options) as unknown as pulumi.Output<ConnectionUriOptions>;
  return given.apply((known) => {
    const uri = connectionUri(known);
    return known.password === undefined ? pulumi.output(uri) : pulumi.secret(uri);
  });
}
