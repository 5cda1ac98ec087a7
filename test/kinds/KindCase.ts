import type fc from "fast-check";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { Kind } from "../../src/contract/pointer";
import type { SecretReference } from "../../src/contract/references";
import type { EmulatorOptions } from "../../src/emulator";
import type { Lifecycle } from "../../src/host/lifecycle";
import { PROJECT, type Harness, type Json, type State } from "../support/harness";

/**
 * What the tests that hold for every kind need of one kind. Each file beside this one is a case, and index.ts has one for each
 * kind: a kind without a case does not compile, nor does a case without an answer to each question. All of it is written by
 * hand from docs/design/api.md, and no value in it is taken from the code under test.
 */
export interface KindCase<Shape extends object = Readonly<Record<string, unknown>>> {
  readonly kind: Kind;
  /** The names of its arguments and outputs. */
  readonly declaration: { readonly kind: Kind; readonly args: object; readonly outputs: object };
  readonly lifecycle: AnyLifecycle;
  /** It lives in an auth integration, which has to stand before it is created. */
  readonly inIntegration: boolean;

  readonly arguments: Readonly<Record<NamesOf<Shape>, ArgumentCase>>;
  /** A program with the fewest arguments that can be deployed. */
  readonly least: (place: Place) => Properties;
  /** Arguments with values that are not known yet, which are changes, but no replacements. */
  readonly unknowns: { readonly [Name in NamesOf<Shape>]?: unknown };
  /** What a program adds to take over what stands; undefined: that is not possible. Nothing: it is taken over anyway. */
  readonly adopts: Properties | undefined;
  /** Where it cannot be taken over: the same program under another name makes another one, and is not refused. */
  readonly coexists: boolean;

  /** Arguments that hold a secret, with the given one in it. */
  readonly secretArguments: { readonly [Name in NamesOf<Shape>]?: (secret: string | SecretReference) => unknown };
  /** Those of them whose secret may be given by reference. */
  readonly byReference: readonly NamesOf<Shape>[];
  /** Outputs that are made by the service, are secret, and must turn up in no message. */
  readonly secretOutputs: readonly string[];
  /** What a state may have for an id. */
  readonly idIn: (projectId: string) => string;
  /** The calls that send no request: no argument can be updated, or the service has no route for it. */
  readonly sendsNothing: readonly ("update" | "delete")[];

  /** What a refresh asks, and what a plan that creates it asks, in this order. */
  readonly list: string;
  readonly planLists: readonly string[];
  /** The first change of its deletion, and whether a list is read before it; undefined: nothing is sent. */
  readonly deletion: (Route & { readonly readsFirst: boolean }) | undefined;
  /**
   * Which objects of a state stand among the records of its project: one or none, or the domains of a Whitelist. They are
   * named alike where two states can hold the same object.
   */
  readonly standing: (holdings: Json, state: State) => readonly string[];
  /** Somebody else takes it away, so that a list of the service says so. */
  readonly vanish: (given: Harness, state: State) => Promise<void>;
  /** Somebody else makes the same in the API, as far as one can, with secrets of their own. */
  readonly plant: (call: RawCall, place: Place) => Promise<unknown>;
  /** What stands of this kind, told apart by what a replacement would change. */
  readonly look: (holdings: Json) => unknown;

  /** Each request that changes something: done.test.ts gives it every odd answer. */
  readonly mutations: readonly Mutation[];
  /** Other programs, and the first request of the update to each. */
  readonly updates: readonly Update[];
  /** What is lost in a replacement, or what stays, as the plan has to say. */
  readonly lost: RegExp | undefined;
  /** Programs that a replacement makes take over what stands in project `elsewhere`. */
  readonly takeovers: readonly Takeover[];
  /** Creations that are found in a list where their response is lost. */
  readonly creations: readonly Creation[];
  /** Two declarations of one object. */
  readonly twins: readonly Twins[];
  /** Declarations that only look alike: they can stand beside each other, `elsewhere` in another project. */
  readonly distinct: (place: Place, elsewhere: Place) => readonly Properties[];
  /** Programs whose object two entries of a state can hold, such as after two imports. */
  readonly heldTwice: readonly { readonly title: string; readonly inputs: (place: Place) => Properties }[];
  /**
   * Any number of them in one project, told apart by a letter, of which each may become any other in one update. Undefined:
   * there is one, they cannot be told apart, or the service takes each name once and renames (two cannot change places).
   */
  readonly several: Several | undefined;
}

/** As the engine sees it: of any arguments and outputs. */
export type AnyLifecycle = Lifecycle<object, object>;

export const anyLifecycle = <Args extends object, Outputs extends object>(
  lifecycle: Lifecycle<Args, Outputs>,
): AnyLifecycle =>
  // What the host hands to it has passed its schemas.
  lifecycle as unknown as AnyLifecycle;

/** A project with three branches. */
export interface Place {
  readonly projectId: string;
  /** The default branch, where an integration can be. In the demo project it has a primary. */
  readonly main: string;
  /** Two without a compute. */
  readonly free: string;
  readonly other: string;
}

export const DEMO: Place = { projectId: PROJECT, main: "br-main", free: "br-dev", other: "br-test" };

/** `replaces`: another object takes its place. `restarts`: it is updated, and drops its connections. `stored`: the state holds it, and nothing is sent. `nothing`: it counts at the creation only. */
type Change = "replaces" | "updates" | "restarts" | "stored" | "nothing";

type Value = string | number | boolean | readonly unknown[] | Properties;

/** Of each form that the arguments have. */
type NamesOf<Shape> = Shape extends unknown ? keyof Shape & string : never;

export interface ArgumentCase {
  /** What no object has by itself. Undefined: a whole program leaves it out. */
  readonly value: Value | ((place: Place) => Value) | undefined;
  /** Undefined: there is no other value. */
  readonly other: Value | ((place: Place) => Value) | undefined;
  readonly change: Change;
  /** The arguments that cannot be given beside the other value. */
  readonly without?: readonly string[];
  readonly rule: Rule;
}

/** Values for one argument: those that the service surely takes, and those that it surely does not. */
export interface Rule {
  readonly good: fc.Arbitrary<unknown>;
  readonly bad: fc.Arbitrary<unknown>;
}

/** One call of the API, past the provider; a refusal is an answer. */
export type RawCall = (method: string, path: string, body?: Json) => Promise<Json>;

interface Route {
  readonly method: string;
  readonly path: string;
}

/** One route that changes something, and a step of the engine that uses it. */
export interface Mutation extends Route {
  readonly title: string;
  /** What stands before. Nothing, when it is left out. */
  readonly from?: Properties;
  /** Makes what stands before, where creating is not enough. */
  readonly prepare?: (given: Harness) => Promise<State>;
  /** What the program declares then; nothing: it is deleted. */
  readonly to: Properties | undefined;
  /** Whether the service has done what was asked. */
  readonly happened: (given: Harness) => Promise<boolean>;
  /** What must be in the words, where the service goes on showing what was there before. */
  readonly argument?: RegExp;
  /** What the answer alone tells: an id, keys, an address. */
  readonly onlyAnswered?: true;
  /** What it creates stands anyway and is only configured: an unfinished one may be kept. */
  readonly configures?: true;
  /** No list shows whether it happened. */
  readonly unlisted?: true;
  /** Something was sent that no list shows: only an answer of the right shape, or an empty one, tells that it is set. */
  readonly secret?: true;
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
  /** Of its POST. */
  readonly path: string;
  readonly args: Properties;
  readonly options?: EmulatorOptions;
  /** The objects of this sort at the service. */
  readonly list: (given: Harness) => Promise<Json[]>;
  /** The name of one of them in words and ids. */
  readonly nameOf: (record: Json) => string;
  /** What tells it apart in words, where its name does not. */
  readonly marks?: (record: Json) => string[];
  /** Whether a list proves that it is ours where the response is lost. `bodiless`: its good answer has no body. */
  readonly isFound: boolean | "bodiless";
  /** What a colleague makes while the response of ours is lost. */
  readonly lookalikes: readonly Lookalike[];
  /** What a colleague makes right before ours arrives, so that it is refused. */
  readonly conflicts: readonly Lookalike[];
}

interface Lookalike {
  readonly title: string;
  readonly make: (given: Harness) => Promise<unknown>;
  /** The message has to name it. */
  readonly isNamed: boolean;
}

/** `twoKind`: where the other one is of another kind. */
export interface Twins {
  readonly title: string;
  readonly one: (place: Place) => Properties;
  readonly two: (place: Place) => Properties;
  readonly twoKind?: Kind;
}

interface Several {
  readonly inputs: (place: Place, letter: string) => Properties;
  /** The letters of those that stand, sorted; with what shows that each has its own values. */
  readonly letters: (holdings: Json) => readonly string[];
}

const valueIn = (value: ArgumentCase["value"], place: Place): unknown =>
  typeof value === "function" ? value(place) : value;

const entriesOf = (kindCase: KindCase): (readonly [string, ArgumentCase])[] => Object.entries(kindCase.arguments);

/** A program with every argument that has a value of its own. */
export const wholeIn = (kindCase: KindCase, place: Place): Properties =>
  Object.fromEntries(
    entriesOf(kindCase).flatMap(([name, { value }]) => {
      const given = valueIn(value, place);
      return given === undefined ? [] : [[name, given]];
    }),
  );

/** Another value of each argument whose change does this. */
export const othersIn = (kindCase: KindCase, place: Place, ...changes: readonly Change[]): Properties =>
  Object.fromEntries(
    entriesOf(kindCase)
      .filter(([, { change, other }]) => changes.includes(change) && other !== undefined)
      .map(([name, { other }]) => [name, valueIn(other, place)]),
  );

/** Seconds: what waits for something that cannot come must not make the tests slow. */
export const PATIENCE = { __timeouts: { create: 4, update: 4, delete: 4 } };
