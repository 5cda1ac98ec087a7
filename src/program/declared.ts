/** What a program tells a strict plan about itself: how many computes it declares (host/lookAhead.ts). */
import * as pulumi from "@pulumi/pulumi";
import type { Kind } from "../contract/pointer";
import { isStrictPlan } from "../contract/settings";

/** By the stack, since a process of the Automation API may run several programs. */
const computes = new WeakMap<object, { count: number }>();
const NO_STACK = {};

/**
 * An update waits 1.5 s for another compute to leave a branch, so one that a program declares later than that is too late.
 * A little more, since the update needs a moment before it waits.
 */
const LATEST_MS = 2_000;

/**
 * Marks a preview, where the service may be asked. A strict plan fails for a primary that stays on its branch, so it has to
 * know when the last compute was compared. Only computes make room for others in an update.
 */
export function previewMark(kind: Kind): true | Promise<number> {
  const config = new pulumi.Config("svc");
  if (kind !== "ComputeEndpoint" || !isStrictPlan((name) => config.get(name))) return true;
  const stack = pulumi.runtime.getStackResource() ?? NO_STACK;
  const declared = computes.get(stack) ?? { count: 0 };
  computes.set(stack, declared);
  declared.count += 1;
  return new Promise((resolve) => setTimeout(() => resolve(declared.count), LATEST_MS));
}
