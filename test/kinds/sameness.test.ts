/**
 * What is the same, from the declarations: for every argument of every kind, values that are spelled differently. Plans,
 * claims, schemas, states and what the service shows must agree on whether they mean one thing
 * (docs/design/decisions.md, Arguments). The table is written by hand from there.
 */
import fc from "fast-check";
import { EACH_CASE } from ".";
import { DEMO, type KindCase } from "./KindCase";
import { objectForm } from "../../src/cli/declarations";
import { addressForm, hostForm, nameForm, settingForm, textForm } from "../../src/contract/forms";
import { domainForm } from "../../src/contract/redirectDomains";
import type { Properties } from "../../src/contract/hiddenKeys";
import { checkArguments, compare, type Rules } from "../../src/runtime/arguments";
import { unconfirmed } from "../../src/runtime/confirmed";
import { echoOf } from "../../src/runtime/echo";

type Pairs = readonly (readonly [unknown, unknown])[];
interface Spellings {
  /** Mean the same. */
  readonly same: Pairs;
  /** Do not. */
  readonly other: Pairs;
}

const COMPOSED = "Zo\u00eb";
const DECOMPOSED = "Zoe\u0308";

const name = (text: string): Spellings => ({
  same: [
    [text, text.toUpperCase()],
    [text, ` ${text}\t`],
  ],
  other: [[text, `${text}2`]],
});
const branch: Spellings = { same: [["br-main", "br-MAIN"]], other: [["br-main", "br-main2"]] };
const label: Spellings = {
  same: [
    [COMPOSED, DECOMPOSED],
    [COMPOSED, ` ${DECOMPOSED} `],
  ],
  other: [
    [COMPOSED, COMPOSED.toUpperCase()],
    [COMPOSED, "Zoe"],
    ["a b", "a  b"],
  ],
};
/** Compared as they are. */
const exact: Spellings = {
  same: [],
  other: [
    ["abc", "ABC"],
    ["abc", "abc "],
    [COMPOSED, DECOMPOSED],
  ],
};
const address: Spellings = {
  same: [
    ["Ops@Example.com", "ops@example.com"],
    ["ops@example.com", "ops@EXAMPLE.com."],
    ["ops@bücher.example", "ops@xn--bcher-kva.example"],
    ["ops@bu\u0308cher.example", "OPS@BÜCHER.EXAMPLE"],
    [`${COMPOSED}@a.example`, `${DECOMPOSED}@a.example`],
  ],
  other: [
    ["ops@example.com", "ops@example.org"],
    ["ops@example.com", "o.ps@example.com"],
    ["ops@example.com", "ops+a@example.com"],
  ],
};
const host: Spellings = {
  same: [
    ["SMTP.Example.com", "smtp.example.com"],
    ["smtp.example.com.", "smtp.example.com"],
    ["smtp.bücher.example", "SMTP.xn--bcher-kva.example"],
    ["[::1]", "::1"],
    ["2001:DB8:0::1", "2001:db8::1"],
  ],
  other: [
    ["smtp.example.com", "smtp.example.org"],
    ["::1", "::2"],
  ],
};
const DOMAINS: Spellings = {
  same: [
    ["https://App.Example.com", "https://app.example.com"],
    ["HTTPS://app.example.com:443/", "https://app.example.com"],
    ["http://app.example.com:80", "http://app.example.com/"],
    ["https://bücher.example", "https://xn--bcher-kva.example"],
    ["https://bu\u0308cher.example", "https://BÜCHER.example"],
    ["https://*.Example.com:*", "https://*.example.com:*/"],
    ["MyApp://Callback", "myapp://Callback"],
  ],
  other: [
    ["https://app.example.com", "http://app.example.com"],
    ["https://app.example.com", "https://app.example.com:8443"],
    ["http://localhost:3000", "http://localhost:*"],
    // Browsers tell them apart.
    ["https://app.example.com", "https://app.example.com."],
    ["myapp://callback", "myapp://Callback"],
    ["myapp://callback", "myapp://callback/"],
  ],
};
const inList = ([one, other]: readonly [unknown, unknown]): readonly [unknown, unknown] => [
  [one, "https://z.example.com"],
  ["https://Z.example.com", other],
];
const FREE: Spellings = { same: [], other: [[["a"], ["A"]]] };
const FLAG: Spellings = { same: [], other: [[true, false]] };
const PORT: Spellings = { same: [], other: [[25, 587]] };

/** Each argument that can be spelled in more than one way, and each other one, so that none is forgotten. */
const TABLE: Readonly<Record<string, Spellings>> = {
  "*.projectId": name("prj-demo"),
  "*.authProvider": name("supported_provider"),
  "*.adopt": FLAG,
  "*.deletionProtection": FLAG,
  "AuthIntegration.branchId": branch,
  "AuthIntegration.databaseName": name("svcdb"),
  "AuthIntegration.roleName": name("svcdb_owner"),
  "AuthKeys.rotationTriggers": FREE,
  "AuthOwnershipTransfer.triggers": FREE,
  "AuthUser.email": address,
  "AuthUser.name": label,
  "ComputeEndpoint.branchId": branch,
  "ComputeEndpoint.type": { same: [], other: [["read_write", "read_only"]] },
  "ComputeEndpoint.name": label,
  "ComputeEndpoint.size": {
    same: [[1, { min: 1, max: 1 }]],
    other: [
      [1, 2],
      [1, { min: 1, max: 2 }],
    ],
  },
  "ComputeEndpoint.scaleToZero": {
    same: [[true, { afterSeconds: 300 }]],
    other: [
      [true, false],
      [true, { afterSeconds: 60 }],
    ],
  },
  "ComputeEndpoint.poolerEnabled": FLAG,
  "ComputeEndpoint.poolerMode": { same: [], other: [["transaction", "session"]] },
  "ComputeEndpoint.disabled": FLAG,
  "ComputeEndpoint.passwordlessAccess": FLAG,
  "ComputeEndpoint.regionId": name("aws-us-east-1"),
  "ComputeEndpoint.provisioner": name("k8s-pod"),
  "ComputeEndpoint.settings": {
    // Postgres ignores the case of a setting's name, and not that of its value. It knows units, but in texts.
    same: [
      [{ pgSettings: { Work_Mem: "4MB" } }, { pgSettings: { work_mem: "4MB" } }],
      [{ pgSettings: { Work_Mem: "4MB" } }, { pgSettings: { work_mem: "4096" } }],
      [{ pgSettings: { shared_buffers: "128MB" } }, { pgSettings: { shared_buffers: "131072kB" } }],
      [{ pgSettings: { statement_timeout: "60s" } }, { pgSettings: { statement_timeout: "1min" } }],
      [{ pgSettings: { jit: "off" } }, { pgSettings: { jit: "false" } }],
    ],
    other: [
      [{ pgSettings: { work_mem: "4MB" } }, { pgSettings: { work_mem: "4mb" } }],
      [{ pgSettings: { work_mem: "4MB" } }, { pgSettings: { shared_buffers: "4MB" } }],
      [{ pgSettings: { shared_buffers: "128MB" } }, { pgSettings: { shared_buffers: "131072" } }],
      [{ pgSettings: { "app.flag": "on" } }, { pgSettings: { "app.flag": "true" } }],
      [{ preloadLibraries: { enabledLibraries: ["a", "b"] } }, { preloadLibraries: { enabledLibraries: ["b", "a"] } }],
    ],
  },
  "ComputeEndpoint.restartTriggers": FREE,
  "EmailServer.type": { same: [], other: [["shared", "standard"]] },
  "EmailServer.host": host,
  "EmailServer.port": PORT,
  "EmailServer.username": exact,
  "EmailServer.password": exact,
  "EmailServer.senderEmail": address,
  "EmailServer.senderName": label,
  "OAuthProvider.providerId": name("google"),
  "OAuthProvider.clientId": exact,
  "OAuthProvider.clientSecret": exact,
  "OAuthProvider.absent": FLAG,
  "Whitelist.domains": { same: DOMAINS.same.map(inList), other: DOMAINS.other.map(inList) },
  "WhitelistDomain.domain": DOMAINS,
  "WhitelistDomain.expiresOn": { same: [], other: [["2027-01-31", "2027-02-01"]] },
};

const spellingsOf = (kind: string, argument: string): Spellings | undefined =>
  TABLE[`${kind}.${argument}`] ?? TABLE[`*.${argument}`];

const ARGUMENTS = EACH_CASE.flatMap((kindCase) =>
  Object.keys(kindCase.declaration.args).map((argument) => ({ kind: kindCase.kind, argument, kindCase })),
);

test("the table has every argument of every kind, and nothing else", () => {
  expect(ARGUMENTS.filter(({ kind, argument }) => spellingsOf(kind, argument) === undefined)).toEqual([]);
  const names = ARGUMENTS.flatMap(({ kind, argument }) => [`${kind}.${argument}`, `*.${argument}`]);
  expect(Object.keys(TABLE).filter((name) => !names.includes(name))).toEqual([]);
});

/** Each of those who decide whether two values of an argument mean the same. Undefined: it has no say. */
type Judge = (kindCase: KindCase, argument: string, one: unknown, other: unknown) => boolean | undefined;

const isPlanned = ({ lifecycle }: KindCase, argument: string, stored: unknown, news: unknown): boolean => {
  const about = { outs: { [argument]: stored }, managed: new Set([argument]), news: { [argument]: news } };
  return compare<object>(lifecycle.args, about).changed.size === 0;
};

const normalised = ({ kind, lifecycle }: KindCase, argument: string, value: unknown): unknown => {
  const { args, problems } = checkArguments<object>(kind, lifecycle.args, { [argument]: value });
  return problems.some(({ path }) => path.startsWith(argument)) ? undefined : args[argument];
};

const JUDGES: Readonly<Record<string, Judge>> = {
  "a plan": (kindCase, argument, one, other) => isPlanned(kindCase, argument, one, other),
  "what the service shows": ({ lifecycle }, argument, one, other) => {
    const asked = { sent: { [argument]: one }, shown: { [argument]: other }, proof: true };
    // Of all kinds: the names are not known here.
    return unconfirmed(lifecycle.args as Rules, asked).length === 0;
  },
  "a refresh": ({ lifecycle }, argument, one, other) => {
    const about = { managed: [argument], stored: { [argument]: one }, observed: { [argument]: other } };
    return echoOf<object>(lifecycle.args, about)[argument] === one;
  },
  "the schema": (kindCase, argument, one, other) => {
    const values = [one, other].map((value) => normalised(kindCase, argument, value));
    return values.includes(undefined) ? undefined : isPlanned(kindCase, argument, values[0], values[1]);
  },
  "a claim": (kindCase, argument, one, other) => {
    const given = kindCase.least(DEMO);
    const claimsOf = (value: unknown): string => {
      const args: Properties = { ...given, [argument]: value };
      return JSON.stringify(kindCase.lifecycle.declares?.(args, "p", new Set(Object.keys(args))));
    };
    return claimsOf(one) === claimsOf("br-distinct") ? undefined : claimsOf(one) === claimsOf(other);
  },
  "an id": ({ kind, lifecycle: { id } }, argument, one, other) => {
    const parts: readonly string[] = id?.parts ?? [];
    if (!parts.includes(argument)) return undefined;
    const idWith = (value: unknown): string =>
      parts.map((part) => (part === argument ? String(value) : "other-1")).join("/");
    return objectForm(kind, idWith(one)) === objectForm(kind, idWith(other));
  },
  "an object in a state": ({ lifecycle }, argument, one, other) => {
    const parts: readonly string[] = lifecycle.id?.parts ?? [];
    const objectsOf = (value: unknown): string => {
      const id = parts.map((part) => (part === argument ? String(value) : "other-1")).join("/");
      return JSON.stringify(lifecycle.objects(id, { [argument]: value }).sort());
    };
    return objectsOf(one) === objectsOf("br-distinct") ? undefined : objectsOf(one) === objectsOf(other);
  },
};

/** Of these, only the creation of an object takes notice. */
const AT_CREATION = ["adopt"];

describe.each(ARGUMENTS)("$kind $argument", ({ kind, argument, kindCase }) => {
  const { same = [], other = [] } = spellingsOf(kind, argument) ?? {};
  const pairs = [
    ...same.map(([one, two]) => ({ one, two, isSame: true })),
    ...other.map(([one, two]) => ({ one, two, isSame: false })),
  ];
  test.each(pairs)("$one and $two are the same: $isSame", ({ one, two, isSame }) => {
    if (AT_CREATION.includes(argument)) return expect(isPlanned(kindCase, argument, one, two)).toBe(true);
    const verdicts = Object.entries(JUDGES).flatMap(([who, judge]) =>
      [judge(kindCase, argument, one, two), judge(kindCase, argument, two, one)].flatMap((verdict) =>
        verdict === undefined ? [] : [`${who}: ${verdict}`],
      ),
    );
    expect(verdicts.filter((verdict) => !verdict.endsWith(`: ${isSame}`))).toEqual([]);
    expect(verdicts.length).toBeGreaterThan(4);
    // What a value becomes means the same as the value.
    for (const value of [one, two]) {
      const becomes = normalised(kindCase, argument, value);
      expect(becomes === undefined || isPlanned(kindCase, argument, value, becomes)).toBe(true);
    }
    return undefined;
  });
});

test("each form is one of its own spellings, so comparing twice changes nothing", () => {
  const forms = { addressForm, domainForm, hostForm, nameForm, settingForm, textForm };
  const parts = [
    "a",
    "Ä",
    "ß",
    "İ",
    "e\u0308",
    "ﬀ",
    ".",
    "。",
    "@",
    ":",
    "://",
    "/",
    "*",
    "[",
    "::1",
    "]",
    " ",
    "xn--",
    "%41",
  ];
  const odd = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ unit: "binary" })), { maxLength: 8 });
  fc.assert(
    fc.property(odd, fc.constantFrom(...Object.entries(forms)), (pieces, [, form]) => {
      const once = form(pieces.join(""));
      expect(form(once)).toBe(once);
    }),
    { numRuns: 2_000 },
  );
});
