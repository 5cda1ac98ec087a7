import { z } from "zod";
import {
  type AuditedResource,
  type AuditLimits,
  type AuditRule,
  auditRules,
  stateRules,
  trustRules,
} from "../../audit/rules";
import { visible } from "../../contract/hiddenKeys";
import { nameInUrn, projectOf } from "../../contract/identifiers";
import { isProviderType, kindOfEntry, kindOfType, STACK_TYPE } from "../../contract/pointer";
import { ambiguity, countingEntries, isAbout, isOfStacks, told, why } from "../drift/entries";
import { entrySections, reasonOf } from "../drift/driftReport";
import {
  type Entry,
  IGNORE_FILE,
  type IgnoreFile,
  readIgnoreFile,
  type RuleEntry,
  ruleEntry,
} from "../drift/ignoreFile";
import { stackOf } from "../drift/report";
import { isTolerated } from "../drift/tolerated";
import { isTransferOf, transfersIn } from "../../contract/watched";
import { EXIT } from "../exitCodes";
import { compareText } from "../output";
import type { CommandReport } from "../report/commandReport";
import { orAsJson, publish } from "../report/render";
import { columns, counted, joined, message, type Text, text, toned } from "../report/text";
import { pulumiIn } from "../stack/pulumi";
import { objectForm } from "../declarations";
import { toolsOf } from "../../resources/tools";
import { exportedState, isCurrent, type StackState, type StoredResource } from "../stack/state";

export interface AuditFlags {
  readonly stack?: string;
  /** In compute units. */
  readonly maxSize?: number;
  readonly json?: true;
}

const finding = z.object({
  rule: z.string(),
  /**
   * The kind of the resource; `Provider` for the stored settings of a provider, `Stack` and `Component` for outputs.
   */
  kind: z.string(),
  name: z.string(),
  urn: z.string(),
  message: z.string(),
  remedy: z.string(),
});

/** With the entry of svc-drift.json that accepts it: its path, reason and last day. */
const accepted = finding.extend({ entry: z.string(), reason: z.string(), until: z.string().nullable() });

/** An entry of svc-drift.json, with its path there. */
const toldEntry = z.object({ entry: z.string(), ...ruleEntry.shape });

/** The output of `doctor --audit --json`: a contract with scripts (docs/doctor.md). */
export const auditSchema = z.object({
  stack: z.string(),
  findings: z.array(finding),
  /** Findings that svc-drift.json accepts. */
  accepted: z.array(accepted),
  /** Expired entries of svc-drift.json: they accept nothing. */
  expired: z.array(toldEntry),
  /** Entries of svc-drift.json that match no finding. */
  unused: z.array(toldEntry),
});

type Finding = z.infer<typeof finding>;
type Audit = z.infer<typeof auditSchema>;

const ALL_RULES = [...auditRules, ...stateRules];

/**
 * Reports what a production stack's state should not contain, and returns the exit code. It reads only the state: it
 * sends no request to the service and decrypts no secret.
 * @throws a message for the user if the state or svc-drift.json cannot be read.
 */
export async function audit({ stack, maxSize, json }: AuditFlags): Promise<number> {
  const limits: AuditLimits = maxSize === undefined ? {} : { maxSizeCu: maxSize };
  const result = await orAsJson(json === true, audited(stack, limits));
  return publish(auditReport(result), json === true ? "json" : "text");
}

async function audited(stack: string | undefined, limits: AuditLimits): Promise<Audit> {
  // First: an invalid file stops the command.
  const file = readIgnoreFile();
  const state = await exportedState(pulumiIn(process.cwd(), stack), false);
  if (!state.resources.some(isDeclared)) {
    throw new Error(
      `${stack === undefined ? "the stack" : `the stack ${stack}`} holds no resource of pulumi-svc, so there is nothing to audit. Run pulumi up first, or name another stack with --stack`,
    );
  }
  const { findings, urns } = findingsIn(state, limits);
  return { stack: stackOf(urns[0] ?? "").stack, ...withoutAccepted(findings, urns, file, new Date()) };
}

/** `urns`: all audited resources. */
export function findingsIn(state: StackState, limits: AuditLimits): { findings: Finding[]; urns: string[] } {
  const declared = state.resources.filter((one) => isDeclared(one) || isProviderType(one.type));
  const context = { transfers: transfersIn(state.resources), declared };
  const findings = [
    ...auditRules.flatMap((rule) => findingsOf(rule, looksOf(declared, context), limits)),
    // Anyone who can read a state can read all of it.
    ...stateRules.flatMap((rule) => findingsOf(rule, looksOf(state.resources, context), limits)),
  ];
  const urns = [...declared, ...findings].map(({ urn }) => urn);
  return { findings, urns: [...new Set(urns)].sort(compareText) };
}

/**
 * What applications rely on, somebody has changed, and svc-drift.json does not accept: neither as a finding of the audit,
 * nor as a difference of `drift`.
 */
export function unacceptedChanges(state: StackState, file: IgnoreFile, now: Date): Finding[] {
  const looks = looksOf(state.resources.filter(isCurrent), { transfers: transfersIn(state.resources), declared: [] });
  const urns = looks.map(({ last }) => last.urn);
  return Object.entries(trustRules).flatMap(([output, rule]) =>
    withoutAccepted(findingsOf(rule, looks, {}), urns, file, now).findings.filter(({ urn }) => {
      const found = looks.find(({ last }) => last.urn === urn)?.last.props[output];
      return !isTolerated({ urn, path: output, found }, { file, urns, now });
    }),
  );
}

/** A resource as the service last showed it, and as it is declared. They differ if a change did not finish. */
interface Looks {
  readonly kind: string;
  readonly last: AuditedResource;
  readonly declared: AuditedResource;
}

/** What a rule may know about the stack besides the resource. */
interface Context {
  readonly transfers: ReturnType<typeof transfersIn>;
  readonly declared: readonly StoredResource[];
}

/** What a new container starts with, and the stack declares neither as present nor as absent. */
function undeclaredIn(container: StoredResource, declared: readonly StoredResource[]): string[] {
  const kind = kindOfEntry(container);
  const started = (kind && toolsOf(kind).contains?.fromTheStart(projectOf(container.id ?? ""))) ?? [];
  if (started.length === 0) return [];
  const forms = declared.flatMap(({ id = "", ...one }) => {
    const kindOfOne = kindOfEntry(one);
    return kindOfOne === undefined ? [] : [objectForm(kindOfOne, id)];
  });
  return started.filter(({ kind, id }) => !forms.includes(objectForm(kind, id))).map(({ name }) => name);
}

/** In the order of their URNs, without the resources of other packages. */
function looksOf(resources: readonly StoredResource[], { transfers, declared: all }: Context): Looks[] {
  const looks = resources.flatMap((resource): Looks[] => {
    const { type, urn, id = "", inputs, outputs, protect = false } = resource;
    const kind = kindOf(resource);
    if (kind === undefined) return [];
    const isTransferred = transfers.some((transfer) => isTransferOf(transfer, id));
    // A resource that is only read (`get`), or left over, is declared elsewhere or nowhere.
    const undeclaredOAuth = all.includes(resource) ? undeclaredIn(resource, all) : [];
    const name = nameInUrn(urn);
    const seen = { type, name, urn, protect, isComponent: kind === COMPONENT, isTransferred, undeclaredOAuth };
    const declared = { ...seen, props: inputs ?? {} };
    return [{ kind, last: { ...declared, props: { ...inputs, ...outputs } }, declared }];
  });
  return looks.toSorted((left, right) => compareText(left.last.urn, right.last.urn));
}

/** Whether the resource is ours and the stack declares it. A resource without arguments is only read (`get`). */
const isDeclared = ({ inputs, ...state }: StoredResource): boolean =>
  kindOfEntry(state) !== undefined && isCurrent(state) && Object.keys(visible(inputs ?? {})).length > 0;

const COMPONENT = "Component";

/** Undefined for a resource of another package. */
function kindOf({ type, custom = true }: StoredResource): string | undefined {
  if (isProviderType(type)) return "Provider";
  if (type === STACK_TYPE) return "Stack";
  return custom ? kindOfType(type) : COMPONENT;
}

function findingsOf(rule: AuditRule, resources: readonly Looks[], limits: AuditLimits): Finding[] {
  return resources.flatMap(({ kind, last, declared }) => {
    const message = rule.find(last, limits) ?? rule.find(declared, limits);
    if (message === undefined) return [];
    const { name, urn } = last;
    return { rule: rule.name, kind, name, urn, message, remedy: rule.remedy };
  });
}

/**
 * Separates the findings that svc-drift.json accepts.
 * @param urns all audited resources
 * @throws one error that lists all entries whose name matches several resources.
 */
export function withoutAccepted(
  findings: readonly Finding[],
  urns: readonly string[],
  file: IgnoreFile,
  now: Date,
): Omit<Audit, "stack"> {
  const isInQuestion = (entry: Entry): entry is RuleEntry =>
    "rule" in entry && (entry.resource === undefined || isOfStacks(entry.resource, urns));
  const { valid, expired } = countingEntries(file, isInQuestion, now);
  const problems = valid.flatMap(
    ({ at, entry: { resource } }) => (resource === undefined ? undefined : ambiguity(at, resource, urns)) ?? [],
  );
  if (problems.length > 0) throw new Error(problems.map((problem) => `${file.name}: ${problem}`).join("\n"));
  const byEntry = findings.map((one) => ({
    one,
    by: valid.find(
      ({ entry: { rule, resource } }) => rule === one.rule && (resource === undefined || isAbout(resource, one.urn)),
    ),
  }));
  const used = new Set(byEntry.map(({ by }) => by));
  return {
    findings: byEntry.flatMap(({ one, by }) => (by === undefined ? one : [])),
    accepted: byEntry.flatMap(({ one, by }) => (by === undefined ? [] : { ...one, ...why(by) })),
    expired: expired.map(told),
    unused: valid.filter((entry) => !used.has(entry)).map(told),
  };
}

/** Grouped by rule, with the remedy once for each rule. */
function auditReport(audit: Audit): CommandReport {
  const { stack, findings, accepted: tolerated, expired, unused } = audit;
  const isClean = findings.length === 0;
  const counts = [
    isClean ? text`no findings` : counted(findings.length, "finding"),
    ...(tolerated.length > 0 ? [text`${tolerated.length} accepted`] : []),
  ];
  return {
    json: audit,
    title: text`Audit`,
    headline: toned(isClean ? "green" : "red", text`Stack ${stack}: ${joined(counts)}`),
    sections: [
      ...ALL_RULES.map((rule) => {
        const ofRule = findings.filter((one) => one.rule === rule.name);
        return {
          title: toned("yellow", text`${rule.name}`),
          items: ofRule.map((one) => ({
            subject: text`${one.kind} ${one.name}: ${message(one.message)}`,
            rows: [],
            notes: [toned("dim", message(one.urn))],
          })),
          lines: ofRule.length === 0 ? [] : [message(rule.remedy)],
        };
      }),
      {
        title: toned("dim", text`Accepted by ${IGNORE_FILE}`),
        head: columns`rule, resource, reason`,
        rows: tolerated.map((one) => [text`${one.rule}`, text`${one.kind} ${one.name}`, reasonOf(one)]),
      },
      ...entrySections({ expired: expired.map(entryCells), unused: unused.map(entryCells) }),
    ],
    exitCode: isClean ? EXIT.done : EXIT.findings,
  };
}

const entryCells = ({ entry, rule, resource, ...why }: Audit["unused"][number]): Text[] => [
  text`${entry}`,
  text`${rule} of ${resource ?? text`every resource`}`,
  reasonOf(why),
];
