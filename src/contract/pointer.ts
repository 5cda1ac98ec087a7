/**
 * The text of `__provider` in the state of every resource: a permanent contract
 * (docs/design/decisions.md, Contract). `test/contract/pointer.test.ts` holds the exact text.
 *
 * - It resolves `pulumi-svc/provider` from the directory of the program first, then from beside `@pulumi/pulumi`
 *   (`require.main` is the SDK's own dynamic-provider script): that is where pnpm hides a package that the program has
 *   only through a wrapper.
 * - `read` and `delete` run the text of the state, the others that of the program. A changed text would live beside the
 *   old one for years: it never changes, nor do `pulumi-svc/provider`, `load` and the names of the kinds.
 */
export function pointer(kind: Kind): string {
  return `exports.handler=()=>require(require.resolve("pulumi-svc/provider",{paths:[".",require.main.path]})).load("${kind}")`;
}

/** Names of the resources, as in the pointer and in the type token. Adding one is fine, renaming never. */
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

/** The Pulumi type of a kind, such as `pulumi-nodejs:dynamic/svc:ComputeEndpoint`. */
export function typeToken(kind: Kind): string {
  return `pulumi-nodejs:dynamic/svc:${kind}`;
}

/** The Pulumi type of the engine's own provider and of `svc.Provider`: dynamic resources have one type of provider. */
export const PROVIDER_TYPE = "pulumi:providers:pulumi-nodejs";

/** Of the stack itself, whose outputs are those of the program. */
export const STACK_TYPE = "pulumi:pulumi:Stack";
