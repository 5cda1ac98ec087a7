import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { appendToJobSummary } from "../../../src/cli/drift/jobSummary";
import { drift, type DriftFlags } from "../../../src/cli/drift/drift";
import { driftReport } from "../../../src/cli/drift/driftReport";
import { type Format, FORMATS, render as rendered } from "../../../src/cli/report/render";
import { parsedIgnoreFile } from "../../../src/cli/drift/ignoreFile";
import { judged } from "../../../src/cli/drift/tolerated";
import { readEventLog } from "../../../src/cli/drift/eventLog";
import { refreshedBy } from "../../../src/cli/drift/refreshed";
import { type Report, reportSchema, toReport } from "../../../src/cli/drift/report";
import { STAND_INS } from "../../../src/contract/standIns";
import { typeToken } from "../../../src/contract/pointer";
import { anyCharacter } from "../../support/characters";
import { RUNNER_PARTS, runnerCommandsIn } from "../../support/runners";
import { events, log, type Refresh, refreshedOf, refreshedWith, secret } from "../../support/refreshes";

const render = (report: Report, format: Format, colours?: boolean): string =>
  rendered(driftReport(report), format, colours);
const exitCode = (report: Report): number => driftReport(report).exitCode;

const driftOf = (...refreshes: Refresh[]) => refreshedOf(...refreshes).flatMap((resource) => resource.drift ?? []);

const COMPUTE = { projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: 2 } };
const RESIZED: Refresh = { declared: COMPUTE, found: { size: { min: 0.5, max: 4 } }, differing: ["size.max"] };

describe("what a refresh found", () => {
  test("a changed compute: the path, both values, and the words of the plan that repairs it", () => {
    expect(driftOf(RESIZED)).toEqual([
      {
        urn: "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api",
        kind: "ComputeEndpoint",
        name: "api",
        id: "prj-demo/ep-1",
        change: "changed",
        properties: [{ path: "size.max", declared: 2, found: 4 }],
        repair: {
          action: "update",
          restarts: true,
          messages: [
            'a change of "size" restarts compute prj-demo/ep-1 when it is active: open connections are dropped',
          ],
        },
      },
    ]);
  });

  test("a repair that restarts nothing says so", () => {
    const [found] = driftOf({ declared: { ...COMPUTE, name: "a" }, found: { name: "b" } });
    expect(found?.repair).toEqual({ action: "update", restarts: false, messages: [] });
  });

  test("a repair that replaces says what is lost", () => {
    const declared = { projectId: "prj-demo", providerId: "github" };
    const [found] = driftOf({ kind: "OAuthProvider", id: "prj-demo/github", declared, found: { clientId: "theirs" } });
    expect(found?.properties).toEqual([{ path: "clientId", declared: null, found: "theirs" }]);
    expect(found?.repair).toEqual({
      action: "replace",
      restarts: false,
      messages: [expect.stringMatching(/shared keys/)],
    });
  });

  test("a deleted one is created again, with the words of its creation", () => {
    const declared = { projectId: "prj-demo", domains: ["https://a.test"] };
    const [found] = driftOf({ kind: "Whitelist", id: "prj-demo", declared, found: null });
    expect(found).toMatchObject({ change: "deleted", properties: [], id: "prj-demo" });
    expect(found?.repair).toEqual({
      action: "create",
      restarts: false,
      messages: [expect.stringMatching(/whole list/)],
    });
  });

  describe("an owner, and an address of keys, that somebody changed at the service", () => {
    const first = { ownedBy: "svc", jwksUrl: "https://a.test/keys" };
    const outs = { ownedBy: "user", jwksUrl: "https://attacker.test/keys", __first: first };
    const declared = { projectId: "prj-demo" };
    const AUTH: Refresh = { kind: "AuthIntegration", name: "auth", id: "prj-demo/p", declared, outs };
    const transfer = (id: string): Refresh => ({ kind: "AuthOwnershipTransfer", name: "transfer", id, declared });
    const owner = { path: "ownedBy", declared: "svc", found: "user" };
    const keys = { path: "jwksUrl", declared: "https://a.test/keys", found: "https://attacker.test/keys" };

    test("are drift, with words that no update brings them back", () => {
      const [found, ...others] = driftOf(AUTH);
      expect([found?.change, found?.properties, others]).toEqual(["changed", [owner, keys], []]);
      expect(found?.repair).toMatchObject({
        action: "update",
        messages: [expect.stringContaining('"ownedBy"'), expect.stringContaining('"jwksUrl"')],
      });
      expect(driftOf({ ...AUTH, outs: { ...outs, __first: undefined } })).toEqual([]);
      // Also in addition to an argument.
      const both = driftOf({ ...AUTH, declared: { ...declared, branchId: "a" }, found: { branchId: "b" } });
      expect(both[0]?.properties.map(({ path }) => path)).toEqual(["branchId", "ownedBy", "jwksUrl"]);
    });

    test.each(["text", "markdown"] as const)("promise no repair, alone or tolerated: %s", (format) => {
      const { ignore: entries } = parsedIgnoreFile(
        "svc-drift.json",
        JSON.stringify({ ignore: [{ resource: "auth", reason: "ours" }] }),
      );
      const { tolerated } = judged(refreshedOf(AUTH), undefined, { name: "svc-drift.json", entries }, new Date());
      const api: Refresh = { declared: { ...declared, size: 1 }, found: { size: 2 }, differing: ["size"] };
      const shown = [reportOf(driftOf(AUTH)), { ...reportOf([]), tolerated }, reportOf(driftOf(AUTH, api))].map(
        (report) => render(report, format),
      );
      for (const text of shown) expect(text).toMatch(format === "text" ? /^ *repair: none$/m : /\): none$/m);
      expect(shown.map((text) => /pulumi up --refresh/.test(text))).toEqual([false, false, true]);
    });

    test("but for an ownership that an AuthOwnershipTransfer of the same integration moves", () => {
      expect(driftOf(AUTH, transfer("prj-demo/p/1f"))[0]?.properties).toEqual([keys]);
      for (const other of ["prj-demo/p2/1f", "prj-other/p/1f", "prj-demo/p"])
        expect(driftOf(AUTH, transfer(other))[0]?.properties).toEqual([owner, keys]);
    });

    test("may stay with an entry for this value, and for no other one", () => {
      const tolerating = (...ignore: object[]) => {
        const { ignore: entries } = parsedIgnoreFile("svc-drift.json", JSON.stringify({ ignore }));
        return judged(refreshedOf(AUTH), undefined, { name: "svc-drift.json", entries }, new Date());
      };
      const entry = { resource: "auth", property: "ownedBy", found: "user", reason: "our account" };
      const { drift: left, tolerated } = tolerating(entry);
      expect([left[0]?.properties, tolerated[0]?.properties]).toEqual([[keys], [owner]]);
      expect(left[0]?.repair.messages).toEqual([expect.stringContaining('"jwksUrl"')]);
      expect(tolerating({ ...entry, found: "eve" }).drift[0]?.properties).toEqual([owner, keys]);
      expect(tolerating(entry, { ...entry, property: "jwksUrl", found: keys.found }).drift).toEqual([]);
    });
  });

  describe("a change of pulumi up that the state has as unfinished", () => {
    const resized = { declared: COMPUTE, found: { size: { min: 0.5, max: 4 } }, differing: ["size.max"] };
    const update = { __unfinished: "update", __sent: ["size"] };
    const about = (refresh: Refresh) => {
      const [one] = driftOf(refresh);
      return one && [one.change, one.properties.map(({ path }) => path), one.unfinished];
    };

    test("is not somebody's, whether or not the read still shows it under way", () => {
      for (const foundOuts of [{}, update])
        expect(about({ ...resized, outs: update, foundOuts })).toEqual([
          "unfinished",
          [],
          { change: "update", sent: ["size"] },
        ]);
    });

    test("is none any more where nothing is under way, and all that it had sent is as declared", () => {
      expect(about({ declared: COMPUTE, outs: update, foundOuts: {} })).toBeUndefined();
      expect(about({ declared: COMPUTE, outs: update, result: "refresh" })?.[0]).toBe("unfinished");
      const renamed = { declared: COMPUTE, found: { name: "theirs" }, outs: update, foundOuts: {} };
      expect(about(renamed)).toEqual(["changed", ["name"], undefined]);
    });

    test("of which the state does not say what it had sent may be whatever differs", () => {
      const { __sent: _sent, ...outs } = update;
      const unknown = { change: "update", sent: null };
      expect(about({ ...resized, outs, foundOuts: {} })).toEqual(["unfinished", ["size.max"], unknown]);
    });

    test("that created the resource has the values of the program in the state", () => {
      const outs = { ...update, __unfinished: "create" };
      const creation = { change: "create", sent: ["size"] };
      expect(about({ ...resized, outs, foundOuts: {} })).toEqual(["unfinished", ["size.max"], creation]);
    });

    test("is told of what is deleted by now, and no repair creates it with the values from before the update", () => {
      const [gone] = driftOf({ declared: COMPUTE, found: null, outs: update });
      expect(gone).toMatchObject({ change: "deleted", unfinished: { change: "update", sent: ["size"] } });
      expect(gone?.repair.messages.at(-1)).toMatch(/^pulumi-svc drift --repair leaves it: /);
    });
  });

  test("what is as declared, what is only looked up, and what is of another package is no drift", () => {
    const theirs = "pulumi-nodejs:dynamic/other:Thing";
    const { results } = readEventLog(
      log(
        ...events({ declared: COMPUTE }),
        ...events({ declared: {}, found: { size: 3 }, name: "got" }),
        ...events({ type: theirs, declared: { size: 1 }, found: { size: 2 }, name: "theirs" }),
        ...events({ type: "aws:s3/bucket:Bucket", declared: { a: 1 }, found: null, name: "bucket" }),
      ),
    );
    const resources = refreshedBy(results);
    expect(resources.map(({ urn, drift }) => [urn.split("::").pop(), drift])).toEqual([["api", undefined]]);
  });

  test("pending changes of the program are not drift, although a log of preview --refresh shows both", () => {
    const pending = { ...RESIZED, before: "update" };
    expect(driftOf({ declared: COMPUTE }, pending)).toEqual([]);
    expect(driftOf(RESIZED, pending)).toHaveLength(1);
  });

  test("beside a plan, where the engine calls each result a refresh, what differs and what is gone still counts", () => {
    const beside = { result: "refresh" };
    expect(driftOf({ declared: COMPUTE, found: {}, ...beside })).toEqual([]);
    expect(driftOf({ ...RESIZED, ...beside })).toEqual(driftOf(RESIZED));
    expect(driftOf({ declared: COMPUTE, found: null, ...beside })[0]?.change).toBe("deleted");
  });

  test("hidden keys are never shown, nor outputs", () => {
    const text = JSON.stringify(driftOf({ ...RESIZED, outs: { host: "canary-host" } }));
    expect(text).not.toMatch(/__|canary/);
  });
});

describe("what a replacement left", () => {
  const domain = { kind: "WhitelistDomain" as const, name: "d" };
  const one = {
    ...domain,
    id: "prj-demo/https://one.test",
    declared: { projectId: "prj-demo", domain: "https://one.test" },
  };
  const two = {
    ...domain,
    id: "prj-demo/https://two.test",
    declared: { projectId: "prj-demo", domain: "https://two.test" },
  };

  test("an object that it deleted, and whose successor could not be created, although the refresh passes it over", () => {
    const { drift: found, isHeld } = refreshedWith(one, { pendingReplacement: true });
    expect(found).toMatchObject({ id: one.id, change: "deleted", properties: [], repair: { action: "create" } });
    expect(found?.repair.messages[0]).toMatch(
      /replacement .* the new one could not be created: the next pulumi up creates it/,
    );
    expect(isHeld).toBe(false);
    expect(refreshedWith(one, {})).toMatchObject({ drift: undefined, isHeld: true });
  });

  test("two states of one URN are two resources, in whatever order the results arrive", () => {
    const [beforeOld, resultOld] = events({ ...one, delete: true });
    const [beforeNew, resultNew] = events({ ...two, found: null });
    for (const results of [
      [resultOld, resultNew],
      [resultNew, resultOld],
    ]) {
      const found = readEventLog(log(...[beforeNew, beforeOld, ...results].map((event) => event ?? {})));
      const report = reportOf(refreshedBy(found.results).flatMap((resource) => resource.drift ?? []));
      expect(report.drift.map(({ id, change, repair }) => [id, change, repair.action])).toEqual([
        [one.id, "leftover", "delete"],
        [two.id, "deleted", "create"],
      ]);
      expect(render(report, "text")).toMatch(
        /^Stack dev: 1 deleted, 1 left over from a replacement\n[^]*https:\/\/one\.test\) left over from a replacement\n {2}repair: delete\n {4}.*the next pulumi up deletes it\n/,
      );
      expect(render(report, "markdown")).toContain("| WhitelistDomain `d` | left over from a replacement |  |  |");
    }
  });

  test("an old object that is gone already is no drift: its deletion finds nothing to do", () => {
    expect(driftOf({ ...one, delete: true, found: null }, two)).toEqual([]);
  });
});

describe("ignoreChanges", () => {
  const size = { path: "size.max", declared: 2, found: 4 };
  const renamed = { path: "name", declared: "a", found: "b" };
  const declared = { ...COMPUTE, name: "a" };
  const both: Refresh = { declared, found: { name: "b", size: { min: 0.5, max: 4 } }, differing: ["name"] };

  test("what it leaves as it is is listed separately, and neither the repair nor the exit code counts it", () => {
    const mixed = refreshedWith(both, { ignoreChanges: ["size"] });
    expect(mixed.drift).toMatchObject({
      properties: [renamed],
      repair: { action: "update", restarts: false, messages: [] },
    });
    expect(mixed.ignored).toEqual({
      urn: mixed.urn,
      kind: "ComputeEndpoint",
      name: "api",
      id: "prj-demo/ep-1",
      properties: [size],
    });
    // The engine plans nothing then.
    const alone = refreshedWith({ ...RESIZED, differing: [], result: "same" }, { ignoreChanges: ["size"] });
    expect(alone).toMatchObject({ drift: undefined, ignored: { properties: [size] } });
    const report = toReport("proj", "dev", { ...NOTHING, ignored: alone.ignored === undefined ? [] : [alone.ignored] });
    expect(exitCode(report)).toBe(0);
    expect(report.fingerprint).toBe(reportOf([]).fingerprint);
    expect(render(report, "text")).toBe(`Stack dev: no drift

Not drift: covered by ignoreChanges
  ComputeEndpoint api (prj-demo/ep-1)
    property  declared  found
    size.max  2         4
`);
    expect(render(report, "markdown")).toContain(
      "### Not drift: covered by ignoreChanges\n\n| Resource | Property | Declared | Found |\n| --- | --- | --- | --- |\n| ComputeEndpoint `api` | `size.max` | `2` | `4` |",
    );
  });

  test("without it the same is drift, whose repair restarts", () => {
    expect(refreshedWith({ ...both, differing: ["name", "size.max"] }, {})).toMatchObject({
      drift: { properties: [renamed, size], repair: { restarts: true } },
      ignored: undefined,
    });
  });

  const nested = {
    declared: { ...COMPUTE, settings: { pgSettings: { "app.x": "1", work_mem: "64MB" } } },
    found: { settings: { pgSettings: { "app.x": "2", work_mem: "1MB", added: "3" } } },
  };
  const paths = (...ignoreChanges: string[]) => {
    const refreshed = refreshedWith(nested, { ignoreChanges });
    return [refreshed.drift, refreshed.ignored].map((one) => one?.properties.map(({ path }) => path));
  };

  test("by every spelling of a path that the engine knows", () => {
    const [added, dotted, memory] = ["added", '["app.x"]', "work_mem"].map((key) =>
      key.startsWith("[") ? `settings.pgSettings${key}` : `settings.pgSettings.${key}`,
    );
    expect(paths("settings.pgSettings.work_mem")).toEqual([[added, dotted], [memory]]);
    expect(paths('settings.pgSettings["app.x"]', "settings.pgSettings.added")).toEqual([[memory], [added, dotted]]);
    for (const all of ["settings", "settings.*", "settings.pgSettings.*", "*"])
      expect(paths(all)).toEqual([[], [added, memory, dotted]]);
    expect(paths("settings.pgSettings[0]", "nothing.there", "")).toEqual([[added, memory, dotted], undefined]);
  });

  test("of a list, by its index, only what both have", () => {
    const list = { kind: "Whitelist" as const, declared: { projectId: "prj-demo", domains: ["a", "b"] } };
    const domains = (found: string[], ...ignoreChanges: string[]) =>
      refreshedWith({ ...list, found: { domains: found } }, { ignoreChanges }).drift?.properties.length;
    expect(domains(["a", "x"], "domains[1]")).toBe(0);
    expect(domains(["x", "y"], "domains[*]")).toBe(0);
    expect(domains(["a", "b", "c"], "domains[2]")).toBe(1);
    expect(domains(["x", "b"], "domains[1]")).toBe(1);
  });
});

describe("secrets", () => {
  const smtp = { projectId: "prj-demo", type: "standard", host: "smtp.test", password: secret };
  const server = { kind: "EmailServer" as const, id: "prj-demo", declared: smtp };

  test("one that differs is reported, according to the engine alone; one that does not is not reported", () => {
    const [found] = driftOf({ ...server, found: { host: "theirs.test" }, differing: ["host", "password"] });
    expect(found?.properties).toEqual([
      { path: "host", declared: "smtp.test", found: "theirs.test" },
      { path: "password", declared: "[secret]", found: "[secret]" },
    ]);
    const [other] = driftOf({ ...server, found: { host: "theirs.test" }, differing: ["host"] });
    expect(other?.properties.map(({ path }) => path)).toEqual(["host"]);
  });

  test("the lifecycle hears that it differs: the repair is a change of it", () => {
    const declared = { projectId: "prj-demo", providerId: "google", clientId: "id", clientSecret: secret };
    const [found] = driftOf({ kind: "OAuthProvider", declared, found: {}, differing: ["clientSecret"] });
    expect(found?.repair.action).toBe("update");
    expect(found?.properties).toEqual([{ path: "clientSecret", declared: "[secret]", found: "[secret]" }]);
  });

  test("at any depth, by the engine's spelling of the path", () => {
    const declared = { ...COMPUTE, settings: { pgSettings: { "app.token": secret, work_mem: "64MB" } } };
    const found = { settings: { pgSettings: { "app.token": secret, work_mem: "1MB" } } };
    const differing = ['settings.pgSettings["app.token"]', "settings.pgSettings.work_mem"];
    expect(driftOf({ declared, found, differing })[0]?.properties).toEqual([
      { path: "settings.pgSettings.work_mem", declared: "64MB", found: "1MB" },
      { path: 'settings.pgSettings["app.token"]', declared: "[secret]", found: "[secret]" },
    ]);
  });

  test.each(Object.entries(STAND_INS))("%s, a text for what the service does not show, is shown", (_name, text) => {
    const declared = { projectId: "prj-demo", providerId: "google" };
    const [found] = driftOf({ kind: "OAuthProvider", declared, found: { clientId: text } });
    expect(found?.properties).toEqual([{ path: "clientId", declared: null, found: text }]);
  });

  test("a value that nobody marked is hidden by its name, and what is not there is not called a secret", () => {
    const declared = { ...COMPUTE, settings: { pgSettings: { a: "1" } } };
    const found = { settings: { pgSettings: { a: "1", my_api_key: "canary-1", Password: "canary-2" } } };
    const drifted = driftOf({ declared, found });
    expect(JSON.stringify(drifted)).not.toMatch(/canary/);
    expect(drifted[0]?.properties).toContainEqual({
      path: "settings.pgSettings.my_api_key",
      declared: null,
      found: "[secret]",
    });
    const [whole] = driftOf({ declared: { ...COMPUTE, settings: {} }, found });
    expect(JSON.stringify(whole)).not.toMatch(/canary/);
  });

  /** Settings of an application, and values that a service may show anywhere. */
  const KEPT = {
    "app.pw": "canary-pw",
    "app.signing_key": "canary-signing",
    "app.api-key": "canary-api",
    "app.encryption.key": "canary-encryption",
    "app.salt": "canary-salt",
    "app.database": "postgres://u:canary-uri@h/db",
    "app.legacy": "Server=h;Pwd=canary-pwd;",
    "app.hook": "https://canary-token@h/hook",
    "app.pem": "-----BEGIN PRIVATE KEY-----\ncanary-pem",
    "app.list": ["a", "postgres://u:canary-list@h/db"],
    "app.nested": { config: { password: "canary-nested" } },
    "app.credentials": { region: "canary-below" },
  };
  const KEPT_PLAIN = { "app.token_ttl": "7200", "credcheck.password_min_length": "12", "app.password": "on" };
  const settingsOf = (pgSettings: object) => ({ settings: { pgSettings } });

  test.each(FORMATS)("what nobody marked is hidden by its name or its form: %s", (format) => {
    const others = Object.fromEntries(
      Object.entries({ ...KEPT, ...KEPT_PLAIN }).map(([name, value]) => [
        name,
        JSON.parse(
          JSON.stringify(value)
            .replace(/canary-\w+/, "$&-before")
            .replace(/^"(\d+|on)"$/, '"off"'),
        ) as unknown,
      ]),
    );
    const drifted = [
      driftOf({ declared: { ...COMPUTE, ...settingsOf(others) }, found: settingsOf({ ...KEPT, ...KEPT_PLAIN }) }),
      driftOf({ declared: COMPUTE, found: settingsOf({ ...KEPT, ...KEPT_PLAIN }) }),
      driftOf({ declared: { ...COMPUTE, name: "a" }, found: { name: "https://canary-name@h" } }),
    ];
    for (const found of drifted) {
      expect(found).toHaveLength(1);
      const shown = render(reportOf(found), format);
      expect(shown).not.toMatch(/canary/);
      expect(shown).toContain("[secret]");
    }
    // Each one is reported, and what only looks like a secret is shown.
    const [all = []] = drifted;
    expect(all[0]?.properties).toHaveLength(Object.keys({ ...KEPT, ...KEPT_PLAIN }).length);
    const [whole = ""] = drifted.map((found) => render(reportOf(found), format));
    for (const name of Object.keys(KEPT)) expect(whole).toContain(name);
    for (const value of ["7200", "12", "off"]) expect(whole).toContain(value);
  });

  test("a reference is shown, and one that is malformed may be the secret", () => {
    const password = { fromEnv: "SMTP_PASSWORD" };
    const found = (given: object) =>
      driftOf({ ...server, declared: { ...smtp, password: given }, found: { password: "canary-1" } })[0]?.properties;
    expect(found(password)).toEqual([{ path: "password", declared: password, found: "[secret]" }]);
    expect(found({ fromEnv: "canary 2" })).toEqual([{ path: "password", declared: "[secret]", found: "[secret]" }]);
  });
});

describe("redirect domains whose day has come", () => {
  const list = { kind: "Whitelist", name: "list", id: "prj-demo" } as const;
  const dated = (origin: unknown, expiresOn: unknown) => ({ origin, expiresOn });
  const expiredIn = (...refreshes: Refresh[]) => refreshedOf(...refreshes).flatMap((one) => one.expiredDomains);
  const one = (expiresOn: unknown, more: Partial<Refresh> = {}): Refresh => ({
    kind: "WhitelistDomain",
    name: "preview",
    id: "prj-demo/https://a.test",
    declared: { projectId: "prj-demo", domain: "https://a.test", expiresOn },
    ...more,
  });

  test("are told apart from drift, in each form", () => {
    const found = refreshedOf(one("2020-01-31"), {
      ...list,
      declared: {
        domains: [dated("https://b.test", "2020-02-29"), "https://c.test", dated("https://d.test", "2999-01-31")],
      },
    });
    expect(found.flatMap(({ drift: drifted }) => drifted ?? [])).toEqual([]);
    const expiredDomains = found.flatMap((resource) => resource.expiredDomains);
    expect(expiredDomains.map(({ name, domain, expiresOn }) => [name, domain, expiresOn])).toEqual([
      ["preview", "https://a.test", "2020-01-31"],
      ["list", "https://b.test", "2020-02-29"],
    ]);
    const report = toReport("proj", "dev", { ...NOTHING, expiredDomains });
    expect([exitCode(report), report.fingerprint]).toEqual([0, reportOf([]).fingerprint]);
    expect(render(report, "text")).toBe(`Stack dev: no drift, 2 expired domains

Not drift: redirect domains whose day has come. Remove them from the program
  resource                 domain          expired
  Whitelist list           https://b.test  since 2020-02-29
  WhitelistDomain preview  https://a.test  since 2020-01-31
`);
    expect(render(report, "markdown")).toContain(
      "| Resource | Domain | Expired |\n| --- | --- | --- |\n| Whitelist `list` | `https://b.test` | since `2020-02-29` |",
    );
    const { expiredDomains: _none, ...older } = report;
    expect(reportSchema.parse(older)).toMatchObject({ expiredDomains: [] });
  });

  test("are only those that the service still has, and shows no secret", () => {
    expect(expiredIn(one("2020-01-31", { found: null }))).toEqual([]);
    const b = dated("https://b.test", "2020-01-31");
    const domains = { declared: { domains: [b, "https://c.test"] }, found: { domains: ["https://c.test"] } };
    expect(expiredIn({ ...list, ...domains })).toEqual([]);
    expect(expiredIn(one(secret), { ...list, declared: { domains: secret } })).toEqual([]);
    const hidden = { projectId: "prj-demo", domain: secret, expiresOn: "2020-01-31" };
    expect(expiredIn(one("", { declared: hidden }))).toMatchObject([{ domain: "[secret]" }]);
  });

  test.each([{ domains: ["https://x.test"] }, null])("a list with a secret is compared whole: %j is drift", (found) => {
    const [drifted] = refreshedOf({ ...list, declared: { domains: secret }, found });
    expect(drifted?.drift).toMatchObject({ change: found === null ? "deleted" : "changed" });
  });

  test("are told beside drift of the same list", () => {
    const b = dated("https://b.test", "2020-01-31");
    const [found] = refreshedOf({ ...list, declared: { domains: [b] }, found: { domains: [b, "https://x.test"] } });
    expect([found?.drift?.change, found?.expiredDomains.length]).toEqual(["changed", 1]);
  });
});

const NOTHING: Omit<Report, "stack" | "fingerprint"> = {
  drift: [],
  ignored: [],
  tolerated: [],
  unmanaged: [],
  toleratedUnmanaged: [],
  byItself: [],
  expiredDomains: [],
  sharedObjects: [],
  expired: [],
  unused: [],
};

const UNMANAGED: Report["unmanaged"] = [
  { kind: "OAuthProvider", id: "prj-demo/github", describe: "OAuth provider github", adopt: "adopt: true" },
  { kind: "ComputeEndpoint", id: "prj-demo/ep-2", describe: "read_only compute ep-2", adopt: 'adopt: "ep-2"' },
];

const reportOf = (drifted: Report["drift"], unmanaged: Report["unmanaged"] = []): Report =>
  toReport("proj", "dev", { ...NOTHING, drift: drifted, unmanaged });

const SEVERAL: Refresh[] = [
  RESIZED,
  {
    kind: "Whitelist",
    name: "list",
    id: "prj-demo",
    declared: { projectId: "prj-demo", domains: ["https://a.test", "https://b.test"] },
    found: { domains: ["https://b.test", "https://c.test"] },
  },
  { kind: "AuthIntegration", name: "auth", id: "prj-demo/x", declared: { projectId: "prj-demo" }, found: null },
];

describe("the fingerprint", () => {
  const print = (...given: Parameters<typeof reportOf>) => reportOf(...given).fingerprint;

  test("is the same in whatever order the same is found, and whatever words go with it", () => {
    const one = driftOf(...SEVERAL);
    const other = driftOf(...SEVERAL.toReversed()).map((resource) => ({
      ...resource,
      properties: resource.properties.toReversed(),
      repair: { ...resource.repair, messages: ["in other words"] },
    }));
    const list = { ...SEVERAL[1], found: { domains: ["https://c.test", "https://b.test"] } } as Refresh;
    expect(print(one, UNMANAGED)).toMatch(/^[0-9a-f]{32}$/);
    expect(print(other, UNMANAGED.toReversed())).toBe(print(one, UNMANAGED));
    expect(print(driftOf(list))).toBe(print(driftOf(...SEVERAL.slice(1, 2))));
  });

  test("is another one for another drift, another value, the values exchanged, another object, another stack", () => {
    const one = driftOf(RESIZED);
    const exchanged = one.map((resource) => ({
      ...resource,
      properties: resource.properties.map(({ path, declared, found }) => ({ path, declared: found, found: declared })),
    }));
    const prints = [
      print([]),
      print(one),
      print(exchanged),
      print(driftOf({ ...RESIZED, found: { size: { min: 0.5, max: 8 } } })),
      print(driftOf({ ...RESIZED, found: null })),
      print(one, UNMANAGED),
      print(one, UNMANAGED.slice(1)),
      toReport("proj", "prod", { ...NOTHING, drift: one }).fingerprint,
      toReport("other", "dev", { ...NOTHING, drift: one }).fingerprint,
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });
});

describe("the formats", () => {
  const report = reportOf(driftOf(...SEVERAL), UNMANAGED);

  test("text: aligned columns, of a list only what one side lacks", () => {
    expect(render(report, "text")).toBe(`Stack dev: 2 changed, 1 deleted, 2 not declared

AuthIntegration auth (prj-demo/x) deleted
  repair: create
    AuthIntegration prj-demo/x is created again: the new integration has other keys, and the users of the old one are lost

ComputeEndpoint api (prj-demo/ep-1) changed
  property  declared          found
  size.max  2                 4
  repair: update, which restarts the compute
    a change of "size" restarts compute prj-demo/ep-1 when it is active: open connections are dropped

Whitelist list (prj-demo) changed
  property  declared          found
  domains   "https://a.test"  not in the list
  domains   not in the list   "https://c.test"
  repair: update
    Whitelist prj-demo: adds domains[0]; removes https://c.test

pulumi up --refresh repairs this. It also deploys pending changes of the program.
pulumi-svc drift --repair repairs this alone, --accept edits the program, --ignore tolerates it.

Not declared in this stack
  object                         what it is              to manage it
  OAuthProvider prj-demo/github  OAuth provider github   adopt: true
  ComputeEndpoint prj-demo/ep-2  read_only compute ep-2  adopt: "ep-2"

fingerprint ${report.fingerprint}
`);
  });

  test("text: colours only where they are asked for, and they change no character", () => {
    const coloured = render(report, "text", true);
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    expect(coloured).toMatch(escapes);
    expect(coloured.replace(escapes, "")).toBe(render(report, "text"));
  });

  test("an empty result is one line, and exit code 0", () => {
    expect(render(reportOf([]), "text")).toBe("Stack dev: no drift\n");
    expect(render(reportOf([]), "markdown")).toBe("## Drift\n\nStack `dev`: no drift\n");
    expect(exitCode(reportOf([]))).toBe(0);
  });

  test("what the project has by itself is listed apart, and counts neither for the exit code nor for the fingerprint", () => {
    const apart = toReport("proj", "dev", { ...NOTHING, byItself: UNMANAGED.slice(0, 1) });
    expect([exitCode(apart), apart.fingerprint]).toEqual([0, reportOf([]).fingerprint]);
    expect(render(apart, "text")).toBe(`Stack dev: no drift

Not drift: a new project has these by default
  object                         what it is             to manage it
  OAuthProvider prj-demo/github  OAuth provider github  adopt: true
`);
    expect(render(apart, "markdown")).toContain(
      "### Not drift: a new project has these by default\n\n| Object | What it is | To manage it |\n| --- | --- | --- |\n| OAuthProvider `prj-demo/github` |",
    );
  });

  test("a report of an earlier version, without the newer lists, is read", () => {
    const { stack, drift, unmanaged, fingerprint } = report;
    expect(reportSchema.parse({ stack, drift, unmanaged, fingerprint })).toEqual(report);
  });

  test("a report of several stacks says of each resource whose it is", () => {
    const of = (stack: string) =>
      driftOf(RESIZED).map((one) => ({ ...one, urn: one.urn.replace("urn:pulumi:dev", `urn:pulumi:${stack}`) }));
    const both = toReport("proj", "dev, prod", {
      ...NOTHING,
      drift: [...of("prod"), ...of("dev")],
      unmanaged: UNMANAGED,
    });
    expect(render(both, "text")).toMatch(
      /^Stacks dev, prod: 2 changed, 2 not declared\n\nComputeEndpoint api of stack dev \(prj-demo\/ep-1\) changed\n[^]*\nComputeEndpoint api of stack prod \(/,
    );
    expect(render(both, "text")).toContain("\nNot declared in any of these stacks\n");
    expect(render(both, "markdown")).toContain("| ComputeEndpoint `api` of stack `prod` | `size.max` | `2` | `4` |");
    expect(
      new Set([both, { ...both, stack: "dev" }].map(({ stack }) => toReport("proj", stack, both).fingerprint)).size,
    ).toBe(2);
  });

  test("what several resources of the state hold is told with the way out, and is no drift", () => {
    const resources = ["old", "renamed"].map((name) => {
      const urn = `urn:pulumi:dev::proj::${typeToken("ComputeEndpoint")}::${name}`;
      return { urn, kind: "ComputeEndpoint" as const, name, id: "prj-demo/ep-1" };
    });
    const shared = toReport("proj", "dev", { ...NOTHING, sharedObjects: [{ objects: ["compute ep-1"], resources }] });
    expect([exitCode(shared), shared.fingerprint]).toEqual([0, reportOf([]).fingerprint]);
    const text = render(shared, "text");
    expect(text).toMatch(
      /^Stack dev: no drift, 1 held by several resources\n\nHeld by several resources of one stack, /,
    );
    const removal = "pulumi state delete 'urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::renamed'";
    expect(text).toMatch(
      /^ {2}compute ep-1\n {4}resource +id +to remove it\n {4}ComputeEndpoint old +prj-demo\/ep-1 +pulumi state delete 'urn:.*::old'$/m,
    );
    expect(text).toContain(removal);
    expect(render(shared, "markdown")).toContain(
      `| \`compute ep-1\` | ComputeEndpoint \`renamed\` | \`prj-demo/ep-1\` | \`${removal}\` |`,
    );
    const { sharedObjects: _none, ...older } = shared;
    expect(reportSchema.parse(older)).toMatchObject({ sharedObjects: [] });
  });

  test("7 for drift, 8 for only what is not declared", () => {
    expect([exitCode(report), exitCode(reportOf([], UNMANAGED))]).toEqual([7, 8]);
    expect(render(reportOf([], UNMANAGED), "text")).toMatch(/^Stack dev: no drift, 2 not declared\n/);
  });

  test("JSON: exactly the shape that is documented", () => {
    const json = JSON.parse(render(report, "json")) as Report;
    expect(json).toEqual(report);
    expect(Object.keys(json)).toEqual(["stack", ...Object.keys(NOTHING), "fingerprint"]);
    expect(Object.keys(json.drift[0] ?? {})).toEqual(["urn", "kind", "name", "id", "change", "properties", "repair"]);
    expect(reportSchema.parse(json)).toEqual(report);
  });

  test("a change without a differing property is reported, as an older report has an unfinished one", () => {
    const [found] = driftOf({ declared: COMPUTE, found: {} });
    expect(found).toMatchObject({ change: "changed", properties: [] });
    const same = reportOf(found === undefined ? [] : [found]);
    expect(exitCode(same)).toBe(7);
    for (const format of ["text", "markdown"] as const)
      expect(render(same, format)).toMatch(/no property differs, but pulumi up has to update it/);
  });

  test("an unfinished change has its own word, with what it had sent, and who finishes it", () => {
    const refresh = { declared: COMPUTE, found: { size: { min: 0.5, max: 4 }, name: "theirs" } };
    const outs = { __unfinished: "update", __sent: ["size"] };
    const unfinished = reportOf(driftOf({ ...refresh, outs, foundOuts: {} }));
    expect(exitCode(unfinished)).toBe(7);
    const said = 'an update of pulumi up is not finished, which had sent "size"';
    const text = render(unfinished, "text");
    expect(text).toContain(`ComputeEndpoint api (prj-demo/ep-1) unfinished\n  ${said}\n`);
    expect(text).toMatch(/^ {2}name +not set +"theirs"$/m);
    expect(text).not.toMatch(/size\.max|repairs this/);
    expect(text).toContain("  repair: by pulumi up only\n");
    const markdown = render(unfinished, "markdown");
    expect(markdown).toContain("| ComputeEndpoint `api` | `an update of pulumi up is not finished, which had sent");
    expect(markdown).toContain('| ComputeEndpoint `api` | `name` | `not set` | `"theirs"` |');
    expect(Object.keys(unfinished.drift[0] ?? {}).at(-1)).toBe("unfinished");
    const creation = reportOf(driftOf({ ...refresh, outs: { ...outs, __unfinished: "create" } }));
    expect(render(creation, "text")).toMatch(
      /unfinished\n {2}a creation of pulumi up is not finished\n[^]*\n {2}repair: update/,
    );
    expect(render(creation, "text")).toMatch(/pulumi up --refresh repairs this/);
  });

  test("Markdown: a row for each property, the repairs, what is not declared", () => {
    const text = render(report, "markdown");
    expect(text).toContain('| Whitelist `list` | `domains` | `not in the list` | `"https://c.test"` |');
    expect(text).toContain("| AuthIntegration `auth` | deleted |  |  |");
    expect(text).toContain(
      "- ComputeEndpoint `api` (`prj-demo/ep-1`): update, which restarts the compute\n  - `a change",
    );
    expect(text).toContain("| OAuthProvider `prj-demo/github` | `OAuth provider github` | `adopt: true` |");
  });

  /** Whatever a name, a path or a value contains, each piece of it is in a code span or written as numbers. */
  const PIECE = "(?:`[^`|\\\\\\n]+`|<code>(?:[A-Za-z0-9 ]|&#\\d+;)*</code>)";
  const ROW = new RegExp(`^\\| \\w+ ${PIECE} \\| ${PIECE} \\| ${PIECE} \\| ${PIECE} \\|$`);

  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({
      unit: fc.constantFrom(
        "`",
        "|",
        "\\",
        "\n",
        "\r",
        "<",
        ">",
        "&",
        "\u001b[31m",
        "\u202e",
        "@a",
        "#1",
        " ",
        "\u2028",
        "\u009b",
        "]",
        "(",
        "_",
        ...RUNNER_PARTS,
      ),
    }),
  );

  test("no value can break the layout of a format, or inject anything", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (name, key, value) => {
        const settings = { pgSettings: { [key]: "a" } };
        const [drifted] = driftOf({
          declared: { ...COMPUTE, settings },
          found: { settings: { pgSettings: { [key]: `${value}!` } } },
        });
        if (drifted === undefined) throw new Error("no drift");
        const one = [{ kind: "OAuthProvider" as const, id: key, describe: value, adopt: name }];
        const bad = toReport("proj", "dev", {
          ...NOTHING,
          drift: [{ ...drifted, name, id: value, repair: { ...drifted.repair, messages: [value] } }],
          ignored: [{ ...drifted, name: value, id: key, properties: [{ path: value, declared: key, found: name }] }],
          unmanaged: one,
          byItself: one,
        });
        const markdown = render(bad, "markdown").split("\n");
        const rows = markdown.filter((line) => line.startsWith("| ComputeEndpoint"));
        expect(rows).toHaveLength(2);
        for (const row of rows) expect(row).toMatch(ROW);
        const harmless = toReport("proj", "dev", {
          ...NOTHING,
          drift: [{ ...drifted, repair: { ...drifted.repair, messages: ["a"] } }],
          ignored: [{ ...drifted, properties: [{ path: "a", declared: 1, found: 2 }] }],
          unmanaged: UNMANAGED.slice(1),
          byItself: UNMANAGED.slice(1),
        });
        for (const format of FORMATS) {
          const [lines, expected] = [bad, harmless].map((one) => render(one, format).split("\n").length);
          expect(lines).toBe(expected);
        }
        for (const format of FORMATS) {
          expect(render(bad, format).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          expect(runnerCommandsIn(render(bad, format))).toEqual([]);
        }
        expect(JSON.parse(render(bad, "json"))).toEqual(bad);
      }),
    );
  });

  test("a long value is cut for people, and whole in JSON", () => {
    const long = "x".repeat(5_000);
    const bad = reportOf(driftOf({ declared: { ...COMPUTE, name: "a" }, found: { name: long } }));
    expect(render(bad, "text").length).toBeLessThan(1_000);
    expect(render(bad, "markdown").length).toBeLessThan(1_000);
    expect(render(bad, "json")).toContain(long);
  });
});

describe("--from, --out and the job summary", () => {
  const folder = mkdtempSync(join(tmpdir(), "drift-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => {
    jest.restoreAllMocks();
    delete process.env["GITHUB_STEP_SUMMARY"];
  });

  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  /** The exit code, and what was written to standard output. */
  async function run(flags: Partial<DriftFlags>): Promise<[number, string]> {
    let said = "";
    jest.spyOn(process.stdout, "write").mockImplementation((text) => {
      said += String(text);
      return true;
    });
    const code = await drift({ format: "text", ...flags });
    return [code, said];
  }

  test("an event log and the report made from it give the same result and fingerprint", async () => {
    const from = file("events.json", log(...SEVERAL.flatMap(events)));
    const out = join(folder, "report.json");
    const [code, said] = await run({ from, format: "json", out });
    expect([code, said]).toEqual([7, `Stack dev: 2 changed, 1 deleted. The report is in ${out}\n`]);
    for (const format of FORMATS) {
      expect(await run({ from: out, format })).toEqual(await run({ from, format }));
    }
    expect(await run({ from: file("clean.json", log(...events({ declared: COMPUTE }))) })).toEqual([
      0,
      "Stack dev: no drift\n",
    ]);
  });

  test("where the file takes nothing, the report goes to standard output, and the end is a failure", async () => {
    const stderr = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    const from = file("full.json", log(...events(RESIZED)));
    const [, whole] = await run({ from });
    expect(await run({ from, out: "/dev/full" })).toEqual([1, whole]);
    expect(stderr.mock.calls.map(([text]) => text)).toEqual([
      "pulumi-svc: /dev/full could not be written: ENOSPC. The report is on standard output\n",
    ]);
  });

  test("a report keeps what it says of things that are not declared, and the fingerprint", async () => {
    const report = reportOf([], UNMANAGED);
    const from = file("unmanaged.json", JSON.stringify(report));
    const [code, said] = await run({ from });
    expect(code).toBe(8);
    expect(said).toContain(report.fingerprint);
    expect(said).toContain('adopt: "ep-2"');
  });

  test("input that no result can be read from is refused with a message", async () => {
    const failed = [
      { diagnosticEvent: { severity: "info", message: "trying again" } },
      { diagnosticEvent: { severity: "error", message: "Preview failed: Could not read it: 401\n" } },
    ];
    const cases: [string, RegExp][] = [
      [join(folder, "missing.json"), /cannot be read: ENOENT/],
      [file("garbage.json", "<html>"), /neither a report .* nor an event log/],
      [file("other.json", '{"stack": "dev", "drift": [{}]}'), /is incomplete: the run did not finish$/],
      [file("plan.json", '{"steps": [], "changeSummary": {}}'), /plan of pulumi preview --json/],
      [file("failed.json", log(...failed)), /failed: Could not read it: 401$/],
      [
        file(
          "cut.json",
          events(RESIZED)
            .map((event) => JSON.stringify(event))
            .join("\n"),
        ),
        /is incomplete: the run did not finish$/,
      ],
      [file("none.json", log()), /no refresh of a resource of pulumi-svc/],
    ];
    for (const [from, words] of cases) {
      await expect(run({ from })).rejects.toThrow(words);
    }
  });

  test("a failure is reported as JSON if that was requested, and is not a drift report", async () => {
    const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
    const from = join(folder, "missing.json");
    await expect(drift({ format: "json", from })).rejects.toThrow(/cannot be read/);
    expect(write.mock.calls.map(([text]): unknown => JSON.parse(String(text)))).toEqual([
      { messages: [`${from} cannot be read: ENOENT`] },
    ]);
    write.mockClear();
    await expect(drift({ format: "markdown", from })).rejects.toThrow(/cannot be read/);
    expect(write).not.toHaveBeenCalled();
    await expect(run({ from: file("failed.json", '{"messages":["it failed"]}') })).rejects.toThrow(/incomplete/);
  });

  test("a job summary keeps below what GitHub takes of a step, whatever stands there already", async () => {
    const summary = file("long-summary", "");
    process.env["GITHUB_STEP_SUMMARY"] = summary;
    const long = reportOf(
      Array.from({ length: 12_000 }, (_, index) => driftOf({ ...RESIZED, name: `an ü ${index}` })[0]).flatMap(
        (one) => one ?? [],
      ),
    );
    await appendToJobSummary(render(reportOf(driftOf(RESIZED)), "markdown"));
    const before = readFileSync(summary, "utf8");
    expect(before).toBe(render(reportOf(driftOf(RESIZED)), "markdown"));
    await appendToJobSummary(render(long, "markdown"));
    const text = readFileSync(summary, "utf8");
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576);
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000);
    expect(text.startsWith(`${before}## Drift\n`)).toBe(true);
    expect(text.slice(-300)).toMatch(
      /(restarts the compute|are dropped`)\n\nThe report is too long for a job summary[^\n]*\n$/,
    );
    // No room is left for a word.
    await appendToJobSummary(render(long, "markdown"));
    expect(readFileSync(summary, "utf8") === text).toBe(true);
  });

  test("a report that is read again is not added to the job summary, where it stands already", async () => {
    const summary = file("job-summary", "");
    process.env["GITHUB_STEP_SUMMARY"] = summary;
    await run({ from: file("events.json", log(...events(RESIZED))) });
    expect(readFileSync(summary, "utf8")).toBe("");
  });
});
