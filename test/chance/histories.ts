import fc from "fast-check";
import { HOWS } from "../support/rules/network";
import { FORMER, type Act, type Command, type Edit, type History, type Step, type Trouble } from "./history";
import {
  additions,
  canary,
  ENVIRONMENT,
  given,
  ownOptions,
  programs,
  providers,
  withProvider,
  type Providers,
} from "./programs";

/* Draws what happens to a stack: three to ten steps, each with what goes wrong meanwhile. */

const PLAIN = { noNullPrototype: true } as const;
const which = fc.nat({ max: 7 });

const kindsOfValue = fc.constantFrom(
  ...(["other", "other", "other", "value", "value", "none", "none", "reference", "reference", "reversed"] as const),
);

const edit = (forms: { readonly components: boolean }): fc.Arbitrary<Edit> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.record({ edit: fc.constant("add" as const), resource: additions(forms) }, PLAIN) },
    { weight: 2, arbitrary: fc.record({ edit: fc.constant("remove" as const), which }, PLAIN) },
    {
      weight: 5,
      arbitrary: fc.record(
        {
          edit: fc.constant("argument" as const),
          which,
          argument: fc.nat({ max: 15 }),
          to: kindsOfValue,
        },
        PLAIN,
      ),
    },
    { weight: 2, arbitrary: fc.record({ edit: fc.constant("rename" as const), which, aliased: fc.boolean() }, PLAIN) },
    { weight: 2, arbitrary: fc.record({ edit: fc.constant("move" as const), which, aliased: fc.boolean() }, PLAIN) },
    { weight: 1, arbitrary: fc.record({ edit: fc.constant("options" as const), which, options: ownOptions }, PLAIN) },
    { weight: 1, arbitrary: fc.record({ edit: fc.constant("reorder" as const), which }, PLAIN) },
  );

const site = fc.constantFrom(
  ...["https://a.example.com", "https://b.example.com", "https://c.example.com", "https://app.example.com"],
);
const branchNumber = fc.integer({ min: 1, max: 3 });
const address = fc.constantFrom("a@example.com", "b@example.com");
const deeds: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constantFrom("primary" as const, "replica" as const), branch: branchNumber }, PLAIN),
  fc.record({ do: fc.constantFrom("delete compute" as const, "resize compute" as const), which }, PLAIN),
  fc.record({ do: fc.constantFrom("add domain" as const, "remove domain" as const), domain: site }, PLAIN),
  fc.record(
    { do: fc.constantFrom("add provider" as const, "remove provider" as const, "share provider" as const) },
    PLAIN,
  ),
  fc.record({ do: fc.constantFrom("add user" as const, "remove user" as const), email: address }, PLAIN),
  fc.record({ do: fc.constantFrom("integrate" as const, "disintegrate" as const, "mail" as const) }, PLAIN),
);

const rarely = fc.oneof(
  { weight: 7, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(true as const) },
);

const channel: fc.Arbitrary<NonNullable<Trouble["channel"]>> = fc.record(
  { at: fc.oneof(fc.constant(0), fc.nat({ max: 8 })), how: fc.constantFrom("folder" as const, "disk" as const) },
  PLAIN,
);

const trouble = (real: boolean): fc.Arbitrary<Trouble> =>
  fc
    .record(
      {
        faults: fc.array(
          fc.record(
            {
              on: fc.constantFrom(...(["reads", "changes", "changes", "deletions"] as const)),
              // Many commands send one change.
              at: fc.oneof(fc.constant(0), fc.nat({ max: 6 })),
              how: fc.constantFrom(...HOWS, "401" as const, "403" as const),
            },
            PLAIN,
          ),
          { maxLength: 2 },
        ),
        otherAccount: rarely,
        channel: fc.option(channel, { nil: undefined, freq: 1 }),
        beside: fc.option(fc.record({ at: fc.nat({ max: 4 }), deed: deeds }, PLAIN), { nil: undefined, freq: 2 }),
        end: fc.option(
          fc.record(
            {
              who: real
                ? fc.constantFrom("cli" as const, "provider" as const, "command" as const)
                : fc.constant("provider" as const),
              signal: real
                ? fc.constantFrom(
                    "SIGKILL" as const,
                    "SIGKILL" as const,
                    "SIGTERM" as const,
                    "SIGHUP" as const,
                    "EPIPE" as const,
                  )
                : fc.constant("SIGKILL" as const),
              // Few commands send many.
              at: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 12 })),
              moment: fc.constantFrom("before" as const, "after" as const),
            },
            PLAIN,
          ),
          { nil: undefined, freq: 2 },
        ),
      },
      PLAIN,
    )
    .map(given);

const index = fc.option(which, { nil: undefined, freq: 2 });
const rareIndex = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: which });
/** The engine takes one of both. */
const part = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ target: which }, PLAIN) },
  { weight: 1, arbitrary: fc.record({ exclude: which }, PLAIN) },
);
const flag = fc.constantFrom(undefined, true as const);
const seed = fc.nat({ max: 1_000 });

const engineCommands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({ run: fc.constant("up" as const), refresh: flag, part, replace: rareIndex, seed }, PLAIN)
      .map(({ part, ...command }) => given({ ...command, ...part })),
  },
  { weight: 2, arbitrary: fc.record({ run: fc.constant("preview" as const), refresh: flag }, PLAIN).map(given) },
  { weight: 3, arbitrary: fc.constant<Command>({ run: "refresh" }) },
  {
    weight: 2,
    arbitrary: fc
      .record({ run: fc.constant("destroy" as const), excludeProtected: flag, part }, PLAIN)
      .map(({ part, ...command }) => given({ ...command, ...part })),
  },
  { weight: 1, arbitrary: fc.record({ run: fc.constant("state rename" as const), which }, PLAIN) },
  { weight: 1, arbitrary: fc.record({ run: fc.constant("state taint" as const), which }, PLAIN) },
);
const ourCommands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ run: fc.constant("drift" as const), unmanaged: flag }, PLAIN).map(given) },
  { weight: 2, arbitrary: fc.record({ run: fc.constant("drift --accept" as const), which: index }, PLAIN).map(given) },
  { weight: 6, arbitrary: fc.record({ run: fc.constant("drift --repair" as const), which: index }, PLAIN).map(given) },
  { weight: 1, arbitrary: fc.record({ run: fc.constant("drift --ignore" as const), which: index }, PLAIN).map(given) },
  { weight: 2, arbitrary: fc.constant<Command>({ run: "import" }) },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ run: "doctor --audit" }, { run: "env" }) },
);

function steps(real: boolean): fc.Arbitrary<readonly Step[]> {
  const command = real
    ? fc.oneof({ weight: 4, arbitrary: engineCommands }, { weight: 4, arbitrary: ourCommands })
    : engineCommands;
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .record(
          {
            do: fc.constant("command" as const),
            command,
            trouble: fc.oneof(
              { weight: 2, arbitrary: fc.constant(undefined) },
              { weight: 1, arbitrary: trouble(real) },
            ),
          },
          PLAIN,
        )
        .map(given),
    },
    {
      weight: 4,
      arbitrary: fc.record(
        {
          do: fc.constant("edit" as const),
          edits: fc.array(edit({ components: real }), { minLength: 1, maxLength: 3 }),
        },
        PLAIN,
      ),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("colleague" as const), deed: deeds }, PLAIN) },
    {
      weight: 1,
      arbitrary: fc.record(
        {
          do: fc.constant("environment" as const),
          name: fc.constantFrom(...ENVIRONMENT),
          value: fc.option(fc.constantFrom(...["one", "two"].map((w) => canary(`later-${w}`))), { freq: 2 }),
        },
        PLAIN,
      ),
    },
  );
  const one = step.map((only): readonly Step[] => [only]);
  return fc
    .array(
      fc.oneof(
        { weight: 8, arbitrary: one },
        {
          weight: real ? 4 : 2,
          arbitrary: fc.oneof(...(real ? [repairs, unfinishedRepairs] : [adjustments]), uncertain, ...ofBoth),
        },
      ),
      {
        minLength: 3,
        maxLength: 10,
      },
    )
    .map((all) => all.flat());
}

/** What changes an object of ours. */
const changes: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("resize compute" as const, "delete compute" as const), which }, PLAIN),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("mail" as const, "share provider" as const) }, PLAIN) },
);

/** A repair, also beside something that depends on what is repaired, that may be ended, and what is said then. */
const repairs: fc.Arbitrary<readonly Step[]> = fc
  .record(
    {
      dependant: fc.option(fc.record({ which, seed }, PLAIN), { nil: undefined, freq: 2 }),
      deed: changes,
      who: fc.constantFrom("command" as const, "cli" as const),
      signal: fc.constantFrom("SIGHUP" as const, "SIGKILL" as const, "SIGTERM" as const, "EPIPE" as const),
      // A repair of one resource sends about as many.
      at: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined, freq: 4 }),
      moment: fc.constantFrom("before" as const, "after" as const),
    },
    PLAIN,
  )
  .map(({ dependant, deed, at, ...end }) => [
    ...(dependant === undefined ? [] : withDependant(dependant)),
    { do: "colleague", deed },
    {
      do: "command",
      command: { run: "drift --repair" },
      ...(at !== undefined && { trouble: { faults: [], end: { ...end, at } } }),
    },
    { do: "command", command: { run: "drift" } },
  ]);

const withDependant = ({ which, seed }: { readonly which: number; readonly seed: number }): readonly Step[] => [
  { do: "edit", edits: [{ edit: "depend", which }] },
  { do: "command", command: { run: "up", seed } },
];

/** A change by hand, which a refresh may take for the state's, and then one of the program. */
const adjustments: fc.Arbitrary<readonly Step[]> = fc
  .record(
    {
      deed: fc.oneof(
        { weight: 3, arbitrary: changes },
        { weight: 1, arbitrary: fc.record({ do: fc.constant("add domain" as const), domain: site }, PLAIN) },
      ),
      isSeen: fc.boolean(),
      which,
      argument: fc.nat({ max: 15 }),
      seed,
    },
    PLAIN,
  )
  .map(({ deed, isSeen, which, argument, seed }) => [
    { do: "colleague", deed },
    ...(isSeen ? [{ do: "command", command: { run: "refresh" } } as const] : []),
    { do: "edit", edits: [{ edit: "argument", which, argument, to: "other" }] },
    { do: "command", command: { run: "up", seed } },
  ]);

/** By hand, what the list does not show whole, or not at all, and how a program ignores that. */
const rotations = fc.oneof(
  fc.record(
    {
      which: fc.constant("EmailServer" as const),
      do: fc.constantFrom("mail" as const, "rotate mail" as const, "rotate mail" as const),
      ignored: fc.constantFrom(["password"], ["username", "password"], ["*"]),
    },
    PLAIN,
  ),
  fc.record(
    {
      which: fc.constant("OAuthProvider" as const),
      do: fc.constantFrom("share provider" as const, "rotate provider" as const),
      ignored: fc.constantFrom(["clientId"], ["clientSecret"], ["clientId", "clientSecret"]),
    },
    PLAIN,
  ),
  fc.record(
    {
      which: fc.constant("ComputeEndpoint" as const),
      do: fc.constant("rotate settings" as const),
      ignored: fc.constantFrom(["settings"], ["settings.pgSettings"], ['settings.pgSettings["app.token"]']),
    },
    PLAIN,
  ),
);

/** A change by hand, which the program ignores from then on, and its next change. */
const disregarded: fc.Arbitrary<readonly Step[]> = fc
  .record({ rotation: rotations, isSeen: fc.boolean(), argument: fc.nat({ max: 15 }), seed }, PLAIN)
  .map(({ rotation: { which, do: what, ignored }, isSeen, argument, seed }) => [
    { do: "colleague", deed: { do: what } },
    ...(isSeen ? [{ do: "command", command: { run: "refresh" } } as const] : []),
    {
      do: "edit",
      edits: [
        { edit: "options", which, options: { ignoreChanges: ignored } },
        { edit: "argument", which, argument, to: "other" },
      ],
    },
    { do: "command", command: { run: "up", seed } },
  ]);

function withProviders(step: Step, given: Providers): Step {
  if (step.do !== "edit") return step;
  const edits = step.edits.map((edit) =>
    edit.edit === "add" ? { ...edit, resource: withProvider(edit.resource, given) } : edit,
  );
  return { ...step, edits };
}

/** `real`: for the real engine, with our own commands, components and the ends of processes. */
export const histories = ({ real }: { readonly real: boolean }): fc.Arbitrary<History> =>
  fc
    .tuple(
      programs({ components: real }),
      steps(real),
      deployment(real),
      providers,
      rarely,
      secrets,
      isLate(real),
      protocol,
    )
    .map(([program, then, first, providers, pages, secrets, lateLists, protocol]) => ({
      program: program.map((one) => withProvider(one, providers)),
      environment: Object.fromEntries(ENVIRONMENT.map((name) => [name, canary(`environment-${name.toLowerCase()}`)])),
      // A stack begins with its first deployment.
      steps: [first, ...then.map((step) => withProviders(step, providers))],
      ...(pages && { pages }),
      ...(secrets && { secrets }),
      ...(lateLists && { lateLists }),
      ...(protocol && { protocol }),
    }));

/** A change of unknown fate, and what a refresh makes of it. */
const uncertain: fc.Arbitrary<readonly Step[]> = fc
  .record(
    {
      which,
      argument: fc.nat({ max: 15 }),
      to: kindsOfValue,
      at: fc.nat({ max: 2 }),
      how: fc.constantFrom(...(["lost", "lost, done", "502", "502, done", "odd 200", "odd 200, done"] as const)),
      seed,
    },
    PLAIN,
  )
  .map(({ which, argument, to, at, how, seed }) => [
    { do: "edit", edits: [{ edit: "argument", which, argument, to }] },
    { do: "command", command: { run: "up", seed }, trouble: { faults: [{ on: "changes", at, how }] } },
    { do: "command", command: { run: "refresh" } },
  ]);

const lost = fc.constantFrom(...(["502, done", "lost, done", "odd 200, done", "empty 200, done"] as const));

/** A change of unknown fate, which a repair meets. */
const unfinishedRepairs: fc.Arbitrary<readonly Step[]> = fc
  .record(
    { which, argument: fc.nat({ max: 15 }), to: kindsOfValue, at: fc.nat({ max: 1 }), how: lost, one: index, seed },
    PLAIN,
  )
  .map(({ which, argument, to, at, how, one, seed }) => [
    { do: "edit", edits: [{ edit: "argument", which, argument, to }] },
    {
      do: "command",
      command: { run: "up", seed },
      // Those that the client sends again, too.
      trouble: { faults: [0, 1, 2, 3, 4].map((more) => ({ on: "changes" as const, at: at + more, how })) },
    },
    { do: "command", command: given({ run: "drift --repair" as const, which: one }) },
    { do: "command", command: { run: "drift" } },
  ]);

/** One command with the key of another account, and what is left of the state. */
const strangers: fc.Arbitrary<readonly Step[]> = fc
  .record({ edit: fc.option(edit({ components: false }), { nil: undefined, freq: 1 }), command: engineCommands }, PLAIN)
  .map(({ edit, command }) => [
    ...(edit === undefined ? [] : [{ do: "edit", edits: [edit] } as const]),
    { do: "command", command, trouble: { faults: [], otherAccount: true } },
  ]);

/** Two entries for one object: that of the former name stays, as the command is about the present one alone. */
const twoNames: fc.Arbitrary<readonly Step[]> = fc
  .record(
    {
      which,
      first: fc.constantFrom("target" as const, "exclude" as const, "all" as const),
      then: fc.constantFrom(...(["target", "exclude", "destroy", "all"] as const)),
      seed,
    },
    PLAIN,
  )
  .map(({ which, first, then, seed }) => {
    const about = { target: { target: which }, exclude: { exclude: FORMER }, all: {} }[first];
    const command: Command = {
      target: { run: "up" as const, target: FORMER, seed },
      exclude: { run: "up" as const, exclude: which, seed },
      destroy: { run: "destroy" as const, target: FORMER },
      all: { run: "up" as const, seed },
    }[then];
    return [
      { do: "edit", edits: [{ edit: "rename", which, aliased: false, adopts: true }] },
      { do: "command", command: { run: "up", ...about, seed } },
      { do: "command", command },
    ];
  });

/** Another Provider takes over what one of them has, while they cannot tell each other. */
const unheard: fc.Arbitrary<readonly Step[]> = fc
  .record({ which, channel, seed }, PLAIN)
  .map(({ which, channel, seed }) => [
    { do: "edit", edits: [{ edit: "rename", which, aliased: false, adopts: true, elsewhere: true }] },
    { do: "command", command: { run: "up", seed }, trouble: { faults: [], channel } },
  ]);

/** A replacement, under the options that decide about its order and about what stays. */
const replacements: fc.Arbitrary<readonly Step[]> = fc
  .record(
    {
      which,
      options: fc
        .record(
          {
            replaceOnChanges: fc.constantFrom(undefined, ["*"], ["size"], ["name"], ["settings"], ["domains"]),
            deleteBeforeReplace: flag,
            retainOnDelete: rarely,
          },
          PLAIN,
        )
        .map(given),
      argument: fc.nat({ max: 15 }),
      seed,
    },
    PLAIN,
  )
  .map(({ which, options, argument, seed }) => [
    {
      do: "edit",
      edits: [
        { edit: "options", which, options },
        { edit: "argument", which, argument, to: "other" },
      ],
    },
    { do: "command", command: { run: "up", seed } },
  ]);

const ofBoth = [disregarded, strangers, twoNames, unheard, replacements] as const;

/** Most of what is created is created by it. */
const deployment = (real: boolean): fc.Arbitrary<Step> =>
  fc
    .record({ seed, trouble: fc.option(trouble(real), { nil: undefined, freq: 2 }) }, PLAIN)
    .map(({ seed, trouble }) => given({ do: "command" as const, command: { run: "up" as const, seed }, trouble }));

const protocol = fc.constantFrom(undefined, undefined, "native" as const, "changing" as const);

const secrets = fc.constantFrom(undefined, undefined, undefined, undefined, "masked" as const, "absent" as const);

const isLate = (real: boolean) =>
  real ? fc.constant(undefined) : fc.constantFrom(undefined, undefined, undefined, true as const);
