/**
 * Tells the provider's processes of this run what the program declares (docs/design/rules.md, 4): the engine asks them only
 * about the resources that a run looks at, so with `--target` and `--exclude` they would not know who else may hold what
 * they are to delete.
 */
import { tmpdir } from "node:os";
import * as pulumi from "@pulumi/pulumi";
import { ANY_AUTH_PROVIDER, type Claim, type Container, withinContainer } from "../contract/claims";
import { FolderError, programBegins, programDeclares, RunFolder } from "../contract/runFolder";

/** By the engine: a process may run several inline programs. Undefined: nothing can be told. */
const files = new Map<string, RunFolder | undefined>();

interface Declaring {
  readonly args: Readonly<Record<string, { readonly container?: Container } | undefined>>;
  readonly claims?: ((args: never, authProvider: string, givenNames: ReadonlySet<string>) => Claim[]) | undefined;
}

/** `given`: what the program gives for each argument. Values that are not known yet, in a preview, say nothing. */
export function tellDeclared({ args, claims }: Declaring, urn: Promise<string>, given: pulumi.Inputs): void {
  const engine = engineAddress();
  if (engine === undefined) return;
  const names = Object.keys(args).filter((name) => given[name] !== undefined);
  const told = pulumi.output(Object.fromEntries(names.map((name) => [name, given[name]])));
  // Rejected inputs are reported by the resource itself.
  const tell = (known: object, ofUrn: string): void => {
    // Not checked: an argument of another type names no object.
    const made = attempted(() => claims?.(known as never, ANY_AUTH_PROVIDER, new Set(Object.keys(known)))) ?? [];
    const all = [...made, ...containers(args, known as Readonly<Record<string, unknown>>)];
    if (all.length > 0) attempted(() => fileOf(engine)?.append(programDeclares(ofUrn, all)));
  };
  void urn.then((ofUrn) => told.apply((known) => tell(known, ofUrn))).catch(() => undefined);
}

/** What the resource lives in: many may. */
function containers(args: Declaring["args"], known: Readonly<Record<string, unknown>>): Omit<Claim, "what">[] {
  const { authProvider = ANY_AUTH_PROVIDER } = known;
  return Object.entries(args).flatMap(([name, rules]) => {
    const { container } = rules ?? {};
    const value = known[name];
    if (container === undefined || typeof value !== "string" || typeof authProvider !== "string") return [];
    return [{ object: withinContainer(container, value, authProvider), shared: true }];
  });
}

/** Of the engine's log, which the provider's processes are given, too. Undefined: there is none, as in unit tests. */
function engineAddress(): string | undefined {
  // The SDK's type leaves out what any client of gRPC has.
  const client = pulumi.runtime.getEngine() as { getChannel(): { getTarget(): string } } | undefined;
  const target = attempted(() => client?.getChannel().getTarget());
  return target?.replace(/^\w+:(?=[^:/]+:\d+$)/, "");
}

function fileOf(engine: string): RunFolder | undefined {
  if (!files.has(engine))
    files.set(
      engine,
      attempted(() => RunFolder.join(engine, programBegins(), tmpdir())),
    );
  return files.get(engine);
}

/** What the providers then do not know is what they would not know without this. */
function attempted<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof FolderError || error instanceof TypeError) return undefined;
    throw error;
  }
}
