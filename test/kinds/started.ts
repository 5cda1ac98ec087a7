import type { EmulatorOptions } from "../../src/emulator";
import { harness, withIntegration, type Harness } from "../support/harness";
import { scene, type Scene } from "../support/rules/hostile";
import type { KindCase } from "./KindCase";

type Client = Parameters<typeof harness>[2];

/** A provider of the kind, with the integration that it needs. */
export async function started(
  { lifecycle, inIntegration }: KindCase,
  options?: EmulatorOptions,
  client?: Client,
): Promise<Harness> {
  const given = await harness(lifecycle, options, client);
  if (inIntegration) await withIntegration(given);
  return given;
}

/** The same through a hostile network. */
export async function sceneOf(
  { lifecycle, inIntegration }: KindCase,
  options: EmulatorOptions = {},
  client?: Client,
): Promise<Scene> {
  // Readable secrets would prove what a real service need not show.
  const opened = await scene(lifecycle, { ...(inIntegration && { secretAnswers: "absent" }), ...options }, client);
  if (inIntegration) await withIntegration(opened.given);
  return opened;
}
