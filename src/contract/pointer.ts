/**
 * The text of `__provider` in the state of every resource: a permanent contract (docs/design/decisions.md, Contract).
 * `test/contract/pointer.test.ts` holds the exact text.
 *
 * - It resolves `pulumi-svc/provider` from the program's directory first, then from beside `@pulumi/pulumi`
 *   (`require.main` is the SDK's own dynamic-provider script). pnpm hides a package there if the program has it only
 *   through a wrapper.
 * - `read` and `delete` run the text in the state, the others the program's. A changed text would exist beside the old
 *   one for years, so it never changes, nor do `pulumi-svc/provider`, `load` and the names of the kinds.
 */
export function pointer(kind: Kind): string {
  return `exports.handler=()=>require(require.resolve("pulumi-svc/provider",{paths:[".",require.main.path]})).load("${kind}")`;
}

/** Names of the resources, as in the pointer and the type token. Add new ones; never rename one. */
export const KINDS = [
  "AuthIntegration",
  "AuthKeys",
  "AuthOwnershipTransfer",
  "AuthUser",
  "ComputeEndpoint",
  "EmailServer",
  "OAuthProvider",
  "Whitelist",
  "WhitelistDomain",
] as const;

export type Kind = (typeof KINDS)[number];

export const isKind = (name: string): name is Kind => (KINDS as readonly string[]).includes(name);

const DYNAMIC = "pulumi-nodejs:dynamic/svc:";
/** For the resources of the native plugin. */
const NATIVE = "svc:index:";

/** The Pulumi type of a kind as a dynamic resource, such as `pulumi-nodejs:dynamic/svc:ComputeEndpoint`. */
export function typeToken(kind: Kind): string {
  return DYNAMIC + kind;
}

/** The Pulumi type of a kind as a resource of the native plugin, such as `svc:index:ComputeEndpoint`. */
export function nativeToken(kind: Kind): string {
  return NATIVE + kind;
}

/** All Pulumi types of a kind. */
export const typesOf = (kind: Kind): readonly string[] => [typeToken(kind), nativeToken(kind)];

/** Undefined for a type of another package, and for a kind that this version does not know. */
export const kindOfType = (type: string): Kind | undefined => KINDS.find((kind) => typesOf(kind).includes(type));

/** What the types of this package begin with, even those of a kind that this version does not know. */
export const OUR_TYPES = [DYNAMIC, NATIVE] as const;

/** An entry of a state. `custom`: false for a component, which in a project called svc may have one of our types. */
interface Entry {
  readonly type: string;
  readonly custom?: boolean | undefined;
}

export const isOurEntry = ({ type, custom = true }: Entry): boolean =>
  custom && OUR_TYPES.some((begin) => type.startsWith(begin));

/** Undefined like `kindOfType`, and for a component. */
export const kindOfEntry = (entry: Entry): Kind | undefined => (isOurEntry(entry) ? kindOfType(entry.type) : undefined);

export type Protocol = "dynamic" | "native";

/** Which kind of provider serves resources of this type. */
export const protocolOf = (type: string): Protocol => (type.startsWith(NATIVE) ? "native" : "dynamic");

const PROVIDERS = "pulumi:providers:";
/** The package of the provider that serves a protocol: all dynamic resources share one. */
export const PACKAGES: Readonly<Record<Protocol, string>> = { dynamic: "pulumi-nodejs", native: "svc" };

/** The Pulumi type of the default provider and of `svc.Provider`: all dynamic resources share it. */
export const PROVIDER_TYPE = PROVIDERS + PACKAGES.dynamic;
const NATIVE_PROVIDER_TYPE = PROVIDERS + PACKAGES.native;

/** Whether it is the type of a provider that resources of this package use. */
export const isProviderType = (type: string): boolean => type === PROVIDER_TYPE || type === NATIVE_PROVIDER_TYPE;

/** The key of a setting in the inputs of such a provider. */
export const settingKey = (providerType: string, setting: string): string =>
  providerType === NATIVE_PROVIDER_TYPE ? setting : `svc:${setting}`;

/** The type that the resource or provider has through the other protocol. Types of other packages have one for both. */
export function typeInOtherProtocol(type: string): string {
  if (type === PROVIDER_TYPE) return NATIVE_PROVIDER_TYPE;
  if (type === NATIVE_PROVIDER_TYPE) return PROVIDER_TYPE;
  const kind = kindOfType(type);
  if (kind === undefined) return type;
  return protocolOf(type) === "native" ? typeToken(kind) : nativeToken(kind);
}

/** The URN that the same resource has in a program that uses the other protocol. */
export function urnInOtherProtocol(urn: string): string {
  // A name may contain anything.
  const [stack, project, types = "", ...name] = urn.split("::");
  return [stack, project, types.split("$").map(typeInOtherProtocol).join("$"), ...name].join("::");
}

/** The type of the stack itself, whose outputs are those of the program. */
export const STACK_TYPE = "pulumi:pulumi:Stack";
