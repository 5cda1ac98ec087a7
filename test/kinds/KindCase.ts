import type fc from "fast-check";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { Kind } from "../../src/contract/pointer";
import type { SecretReference } from "../../src/contract/references";
import type { EmulatorOptions } from "../../src/emulator";
import type { Lifecycle } from "../../src/runtime/lifecycle";
import { PROJECT, type Harness, type Json, type State } from "../support/harness";

/**
 * What the tests of every kind need to know about one kind. Each kind has a file of its name in this folder, which
 * exports it as `kindCase`. A case that lacks a field does not compile. All of it is written by hand from
 * docs/design/api.md; no value is taken from the code under test.
 */
export interface KindCase<Shape extends object = Readonly<Record<string, unknown>>> {
  readonly kind: Kind;
  /** The names of its arguments and outputs. */
  readonly declaration: { readonly kind: Kind; readonly args: object; readonly outputs: object };
  readonly lifecycle: AnyLifecycle;
  /** It belongs to an auth integration, which must exist before it is created. */
  readonly inIntegration: boolean;

  readonly arguments: Readonly<Record<NamesOf<Shape>, ArgumentCase>>;
  /** A program with the fewest arguments that can be deployed. */
  readonly least: (place: Place) => Properties;
  /** Arguments that may be unknown in a plan: a change, but not a replacement. */
  readonly unknowns: { readonly [Name in NamesOf<Shape>]?: unknown };
  /** What a program adds to adopt an existing object; undefined: impossible; empty: it is always adopted. */
  readonly adopts: Properties | undefined;
  /** If it cannot be adopted: the same program under another name creates another object and is not refused. */
  readonly coexists: boolean;

  /** Arguments that contain a secret, built from the given one. */
  readonly secretArguments: { readonly [Name in NamesOf<Shape>]?: (secret: string | SecretReference) => unknown };
  /** Those whose secret may be given by reference. */
  readonly byReference: readonly NamesOf<Shape>[];
  /** Secret outputs created by the service, which must not appear in any message. */
  readonly secretOutputs: readonly string[];
  /** The id that a state may have. */
  readonly idIn: (projectId: string) => string;
  /** The calls that send no request: no argument can be updated, or the service has no route for it. */
  readonly sendsNothing: readonly ("update" | "delete")[];

  /** The list that a refresh reads, then a plan that creates it. */
  readonly list: string;
  readonly planLists: readonly string[];
  /** The first request of its deletion, and whether a list is read before it; undefined: nothing is sent. */
  readonly deletion: (Route & { readonly readsFirst: boolean }) | undefined;
  /**
   * The objects of a state that exist in its project's records: one, none, or the domains of a Whitelist. The same
   * object has the same name in different states.
   */
  readonly standing: (holdings: Json, state: State) => readonly string[];
  /** Somebody else deletes it, so that a list of the service shows it. */
  readonly vanish: (given: Harness, state: State) => Promise<void>;
  /** Somebody else creates the same by the API, as far as possible, with other secrets. */
  readonly plant: (call: RawCall, place: Place) => Promise<unknown>;
  /** The existing objects of this kind, distinguished by what a replacement would change. */
  readonly look: (holdings: Json) => unknown;

  /** Each changing request: done.test.ts gives it every unusual response. */
  readonly mutations: readonly Mutation[];
  /** Other programs, and the first request of the update to each. */
  readonly updates: readonly Update[];
  /** What a replacement loses or keeps, as the plan must say. */
  readonly lost: RegExp | undefined;
  /** Programs whose replacement adopts an existing object in project `elsewhere`. */
  readonly takeovers: readonly Takeover[];
  /** Creations that are found in a list if their response is lost. */
  readonly creations: readonly Creation[];
  /** Two declarations of one object. */
  readonly twins: readonly Twins[];
  /** Declarations that look alike but can coexist, with `elsewhere` in another project. */
  readonly distinct: (place: Place, elsewhere: Place) => readonly Properties[];
  /** Programs whose object two entries of a state can hold, for example after two imports. */
  readonly heldTwice: readonly { readonly title: string; readonly inputs: (place: Place) => Properties }[];
  /**
   * Several objects in one project, distinguished by a letter. Each may become any other in one update. Undefined:
   * there is only one, they are indistinguishable, or the service allows each name once and renames (two objects cannot
   * exchange names).
   */
  readonly several: Several | undefined;

  /** Its part in the fault campaign (test/engine/faultCampaign.test.ts). */
  readonly campaign: CampaignPart;
}

/** As the engine sees it, for any arguments and outputs. */
export type AnyLifecycle = Lifecycle<object, object>;

export const anyLifecycle = <Args extends object, Outputs extends object>(
  lifecycle: Lifecycle<Args, Outputs>,
): AnyLifecycle =>
  // The host passes only values that match its schemas.
  lifecycle as unknown as AnyLifecycle;

/** A project with three branches. */
export interface Place {
  readonly projectId: string;
  /** The default branch, which can have an integration. In the demo project it has a primary. */
  readonly main: string;
  /** Two branches without a compute. */
  readonly free: string;
  readonly other: string;
}

export const DEMO: Place = { projectId: PROJECT, main: "br-main", free: "br-dev", other: "br-test" };

/**
 * `replaces`: another object replaces it, and is created first. `excludes`: the same, but the service has no place for
 * both, so the old one is deleted first. `restarts`: it is updated and drops its connections. `stored`: only the state
 * changes, and nothing is sent. `nothing`: it has an effect only at creation.
 */
type Change = "replaces" | "excludes" | "updates" | "restarts" | "stored" | "nothing";

type Value = string | number | boolean | readonly unknown[] | Properties;

/** For each form of the arguments. */
type NamesOf<Shape> = Shape extends unknown ? keyof Shape & string : never;

export interface ArgumentCase {
  /** A value that no object has by default. Undefined: a whole program omits it. */
  readonly value: Value | ((place: Place) => Value) | undefined;
  /** Undefined: there is no other value. */
  readonly other: Value | ((place: Place) => Value) | undefined;
  readonly change: Change;
  /** The arguments that are invalid together with the other value. */
  readonly without?: readonly string[];
  readonly rule: Rule;
}

/** Values of one argument that the service certainly accepts, and values that it certainly refuses. */
export interface Rule {
  readonly good: fc.Arbitrary<unknown>;
  readonly bad: fc.Arbitrary<unknown>;
}

/** One API call without the provider; a refusal is a response. */
export type RawCall = (method: string, path: string, body?: Json) => Promise<Json>;

interface Route {
  readonly method: string;
  readonly path: string;
}

/** A route that changes something, and a step of the engine that uses it. */
export interface Mutation extends Route {
  readonly title: string;
  /** What exists before. @default nothing */
  readonly from?: Properties;
  /** Creates the initial object, if a plain creation is not enough. */
  readonly prepare?: (given: Harness) => Promise<State>;
  /** What the program declares next; undefined: the object is deleted. */
  readonly to: Properties | undefined;
  /** Whether the service has executed the request. */
  readonly happened: (given: Harness) => Promise<boolean>;
  /** The message must match this if the service keeps showing the old object. */
  readonly argument?: RegExp;
  /** Only the response contains the result: an id, keys, an address. */
  readonly onlyAnswered?: true;
  /** It configures an object that always exists: an unfinished one may be kept. */
  readonly configures?: true;
  /** No list shows whether it happened. */
  readonly unlisted?: true;
  /** Its response has no body. */
  readonly bodiless?: true;
  /**
   * The steps of the fault campaign that send it. @default `up` for a creation, `change` for an update, `destroy` for a
   * deletion
   */
  readonly campaignSteps?: readonly Step[];
  /**
   * It sends values that no list shows: only a response of the right form, or an empty one, proves that they are set.
   */
  readonly secret?: true;
}

/** The commands of the fault campaign: create, change, destroy. */
export type Step = "up" | "change" | "destroy";

/** The secrets in the program of the fault campaign. */
export const SECRETS = { oauth: "canary-oauth-secret-1", smtp: "canary-smtp-password-1", name: "canary-name-1" };

/** The objects of one kind in the fault campaign. */
export interface CampaignPart {
  /** The emulator's lists of its objects. */
  readonly lists: readonly string[];
  /**
   * The lines of the program that declare them. The second round changes whatever can be changed. They see what the
   * kinds before declare, `adopt` (by the resource's name, objects to adopt because they were created after all), and
   * `secrets`, which collects secret outputs. `project`: that of an integration's contents, which has a colleague's
   * objects too. `adopted`: a compute to adopt.
   */
  readonly program: (given: { readonly round: 1 | 2; readonly project: string; readonly adopted: string }) => string;
  /** What `shown` gives of them. */
  readonly declared: (given: { readonly round: 1 | 2; readonly besideColleague: boolean }) => readonly string[];
  /** Ours in a project of the emulator's state: each with the values that it has, and with an id if states have it. */
  readonly shown: (given: {
    readonly project: Json;
    readonly own: (list: string) => readonly Json[];
  }) => readonly { readonly text: string; readonly id?: unknown }[];
}

export interface Update extends Route {
  readonly title: string;
  readonly args: Properties;
}

export interface Takeover {
  readonly title: string;
  readonly from: (place: Place) => Properties;
  readonly to: (place: Place, elsewhere: Place) => Properties;
}

/** A creation in the demo project. */
export interface Creation {
  readonly title: string;
  /** The path of its POST. */
  readonly path: string;
  readonly args: Properties;
  readonly options?: EmulatorOptions;
  /** The service's objects of this type. */
  readonly list: (given: Harness) => Promise<Json[]>;
  /** An object's name in messages and ids. */
  readonly nameOf: (record: Json) => string;
  /** Texts that identify it in messages if its name does not. */
  readonly marks?: (record: Json) => string[];
  /** Whether a list proves that it is ours if the response is lost. `bodiless`: a successful response has no body. */
  readonly isFound: boolean | "bodiless";
  /** What a colleague creates while our response is lost. */
  readonly lookalikes: readonly Lookalike[];
  /** What a colleague creates just before our request arrives, so that it is refused. */
  readonly conflicts: readonly Lookalike[];
}

interface Lookalike {
  readonly title: string;
  readonly make: (given: Harness) => Promise<unknown>;
  /** The message must name it. */
  readonly isNamed: boolean;
}

/** `twoKind`: if the other one is of another kind. */
export interface Twins {
  readonly title: string;
  readonly one: (place: Place) => Properties;
  readonly two: (place: Place) => Properties;
  readonly twoKind?: Kind;
}

interface Several {
  readonly inputs: (place: Place, letter: string) => Properties;
  /** The sorted letters of existing objects, and proof that each has its own values. */
  readonly letters: (holdings: Json) => readonly string[];
}

const valueIn = (value: ArgumentCase["value"], place: Place): unknown =>
  typeof value === "function" ? value(place) : value;

const entriesOf = (kindCase: KindCase): (readonly [string, ArgumentCase])[] => Object.entries(kindCase.arguments);

/** A program with every argument set to a distinctive value. */
export const wholeIn = (kindCase: KindCase, place: Place): Properties =>
  Object.fromEntries(
    entriesOf(kindCase).flatMap(([name, { value }]) => {
      const given = valueIn(value, place);
      return given === undefined ? [] : [[name, given]];
    }),
  );

/** Another value for each argument whose change has one of these effects. */
export const othersIn = (kindCase: KindCase, place: Place, ...changes: readonly Change[]): Properties =>
  Object.fromEntries(
    entriesOf(kindCase)
      .filter(([, { change, other }]) => changes.includes(change) && other !== undefined)
      .map(([name, { other }]) => [name, valueIn(other, place)]),
  );

/** In seconds: waiting for something impossible must not slow down the tests. */
export const PATIENCE = { __timeouts: { create: 4, update: 4, delete: 4 } };
