import type { Kind } from "../../../src/contract/pointer";
import type { EmulatorOptions } from "../../../src/emulator";
import { KIND_CASES } from "../../kinds";
import { sceneOf } from "../../kinds/started";

/* For kinds that have their own tests besides those of every kind. */

const of = (kind: Kind) => (options?: EmulatorOptions) => sceneOf(KIND_CASES[kind], options);

export const computeScene = of("ComputeEndpoint");
export const integrationScene = of("AuthIntegration");
export const userScene = of("AuthUser");
export const keysScene = of("AuthKeys");
export const oauthScene = of("OAuthProvider");
export const domainScene = of("WhitelistDomain");
export const whitelistScene = of("Whitelist");
export const emailScene = of("EmailServer");
