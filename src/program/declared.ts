/** Tells a strict plan how many computes the program declares (runtime/lookAhead.ts). */
import * as pulumi from "@pulumi/pulumi";
import type { Kind } from "../contract/pointer";
import { isStrictPlan } from "../contract/settings";

/** Counted per stack, since one process of the Automation API may run several programs. */
const computes = new WeakMap<object, { count: number }>();
const NO_STACK = {};

/**
 * An update waits 1.5 s for another compute to leave a branch, so a compute declared later than that is too late. A
 * little more, since the update takes a moment before it waits.
 */
const LATEST_MS = 2_000;

/**
 * Marks a preview, in which the service may be read. A strict plan fails for a primary that stays on its branch, so it
 * must know when the last compute was compared. Only computes make room for others in an update.
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
