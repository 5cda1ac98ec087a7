import {
  type EnforcementLevel,
  type PolicyConfigSchema,
  PolicyPack,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  UnknownValueError,
} from "@pulumi/policy";
import { type AuditLimits, type AuditRule, auditRules } from "pulumi-svc/audit";

/** These stop a plan. The others are reported. The configuration of the pack can change both. */
const MANDATORY = [
  "shared-oauth-keys",
  "shared-mail-server",
  "redirect-localhost",
  "redirect-plain-http",
  "redirect-wildcard",
  "size-over-limit",
  "secret-in-state",
];

/** Their findings show a domain. A policy gets secrets in plain text and cannot distinguish them from other values. */
const SHOWS_VALUES = ["redirect-localhost", "redirect-plain-http", "redirect-wildcard", "redirect-expired"];

/** As an entry of svc-drift.json. */
interface Exception {
  readonly resource: string;
  readonly reason: string;
  /** The last day (UTC) on which it counts. */
  readonly until?: string;
}

interface Settings extends AuditLimits {
  readonly exceptions?: readonly Exception[];
}

const text: PolicyConfigSchema["properties"][string] = { type: "string", minLength: 1 };
const exceptions: PolicyConfigSchema["properties"][string] = {
  type: "array",
  items: {
    type: "object",
    properties: { resource: text, reason: text, until: { type: "string", format: "date" } },
    required: ["resource", "reason"],
    additionalProperties: false,
  },
};

function policyOf(rule: AuditRule): ResourceValidationPolicy {
  const enforcementLevel: EnforcementLevel = MANDATORY.includes(rule.name) ? "mandatory" : "advisory";
  return {
    name: rule.name,
    description: rule.description,
    remediationSteps: rule.remedy,
    enforcementLevel,
    configSchema: {
      properties: {
        exceptions,
        ...(rule.name === "size-over-limit" && { maxSizeCu: { type: "number", exclusiveMinimum: 0 } }),
      },
    },
    validateResource: (args, reportViolation) => {
      const { exceptions = [], ...limits } = args.getConfig<Settings>();
      const { type, name, urn, opts } = args;
      const found = rule.find({ type, name, urn, props: knownProps(args), protect: opts.protect }, limits);
      if (found === undefined) return;
      const about = exceptions.filter(({ resource }) => resource === name || resource === urn);
      const today = new Date().toISOString().slice(0, "2027-01-31".length);
      const accepted = about.find(({ until }) => until === undefined || until >= today);
      if (accepted !== undefined) args.notApplicable(`accepted: ${accepted.reason}`);
      const over = about.map(({ reason, until }) => ` The exception "${reason}" ended on ${until}.`).join("");
      const shown = SHOWS_VALUES.includes(rule.name) ? rule.remedy : `${name}: ${found}. ${rule.remedy}`;
      reportViolation(shown + over);
    },
  };
}

/**
 * A copy with a text in place of each value that is not known yet in a preview, because reading such a value throws. No
 * rule finds anything in the text; `pulumi up` checks again when the value is known.
 */
function knownProps({ props }: ResourceValidationArgs): Record<string, unknown> {
  return Object.fromEntries(Object.keys(props).map((key) => [key, known(() => props[key])]));
}

function known(read: () => unknown): unknown {
  try {
    const value = read();
    if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => known(() => value[index]));
    if (typeof value !== "object" || value === null) return value;
    const entries = value as Record<string, unknown>; // props are JSON
    return Object.fromEntries(Object.keys(entries).map((key) => [key, known(() => entries[key])]));
  } catch (error) {
    if (error instanceof UnknownValueError) return "not known yet";
    throw error;
  }
}

new PolicyPack("pulumi-svc", { policies: auditRules.map(policyOf) });
