import type * as pulumi from "@pulumi/pulumi";
import type { Properties } from "../contract/hiddenKeys";

/** The methods of a dynamic provider, all of them there. Apart from host.ts, so that the published types need no zod. */
export type HostedProvider = Required<pulumi.dynamic.ResourceProvider<Properties, Properties>>;
