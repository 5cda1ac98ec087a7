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

/** All Pulumi types of a kind. */
export const typesOf = (kind: Kind): readonly string[] => [typeToken(kind), NATIVE + kind];

/** Undefined for a type of another package, and for a kind that this version does not know. */
export const kindOfType = (type: string): Kind | undefined => KINDS.find((kind) => typesOf(kind).includes(type));

/** What the types of this package begin with, even those of a kind that this version does not know. */
export const OUR_TYPES = [DYNAMIC, NATIVE] as const;

export const isOurType = (type: string): boolean => OUR_TYPES.some((begin) => type.startsWith(begin));

/** Which kind of provider serves resources of this type. */
export const doorOf = (type: string): "dynamic" | "native" => (type.startsWith(NATIVE) ? "native" : "dynamic");

/** The Pulumi type of the default provider and of `svc.Provider`: all dynamic resources share it. */
export const PROVIDER_TYPE = "pulumi:providers:pulumi-nodejs";
const NATIVE_PROVIDER_TYPE = "pulumi:providers:svc";

/** Whether it is the type of a provider that resources of this package use. */
export const isProviderType = (type: string): boolean => type === PROVIDER_TYPE || type === NATIVE_PROVIDER_TYPE;

/** The key of a setting in the inputs of such a provider. */
export const settingKey = (providerType: string, setting: string): string =>
  providerType === NATIVE_PROVIDER_TYPE ? setting : `svc:${setting}`;

/** The type of the stack itself, whose outputs are those of the program. */
export const STACK_TYPE = "pulumi:pulumi:Stack";
