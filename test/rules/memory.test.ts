/**
 * Rule 4: a run does not delete what it has created or adopted, does not adopt what it deletes or moves away, and an
 * object is declared once. Each run goes through a stand-in for the engine (program.ts) and is judged by the service's
 * objects.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { RunMemory } from "../../src/host/run/memory";
import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { harness, PROJECT, PROVIDER, UNKNOWN, urnOf, withIntegration } from "../support/harness";
import { scene } from "../support/rules/hostile";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { EMAIL, mailOf } from "../support/rules/routes";
import { emailScene } from "../support/rules/scenes";
import { EACH_KIND, KIND_CASES } from "../kinds";
import { wholeIn } from "../kinds/KindCase";
import { WHOLE } from "../support/cli";
import { output, type Declared, type Kind, type Program, type Stack } from "../support/rules/program";
import {
  atRest,
  branch,
  eachSeed,
  expectClean,
  expectDone,
  placeIn,
  world,
  type Json,
  type World,
} from "../support/rules/world";
import { listed } from "../support/whitelists";

// Seeds vary the order of what happens at the same time; chance plays these as well.
const SEEDS = WHOLE ? 4 : 2;

const site = (letter: string): string => `https://${letter.toLowerCase()}.example.com`;
const sites = (letters: string): string[] => [...letters].map(site);

/** `letters.map((letter, i) => new Kind("r" + i, …))`: names depend on the position, not on the object. */
const byIndex = (kind: Kind, letters: string, inputs: (letter: string, i: number) => object): Program =>
  [...letters].map((letter, i) => ({ kind, name: `r${i}`, inputs: { ...inputs(letter, i) } }));

const domainsOf = (projectId: string, letters: string, adopt = true): Program =>
  byIndex("WhitelistDomain", letters, (letter) => ({ projectId, domain: site(letter), ...(adopt && { adopt }) }));

/** Each entry of the state refers to a different object. */
function expectDistinct({ state }: Stack): void {
  const ids = state.map(({ kind, id }) => `${kind} ${id}`);
  expect(ids).toEqual([...new Set(ids)]);
}

/** Every compute in the state exists at the service, and none appears twice. */
async function expectComputesStand(given: World, stack: Stack, projectId: string): Promise<void> {
  const listed = (await given.computes(projectId)).map(({ id }) => `${projectId}/${String(id)}`);
  const held = stack.state.filter(({ kind, id }) => kind === "ComputeEndpoint" && id.startsWith(`${projectId}/`));
  expect(listed).toEqual(expect.arrayContaining(held.map(({ id }) => id)));
  expectDistinct(stack);
}

const places = async (given: World, projectId: string): Promise<Record<string, unknown>> =>
  Object.fromEntries((await given.computes(projectId)).map(({ id, branch_id }) => [String(id), branch_id]));

const primary = (name: string, projectId: string, branchId: string, more: object = {}): Declared => ({
  kind: "ComputeEndpoint",
  name,
  inputs: { projectId, branchId, ...more },
});

const SHIFTS: readonly (readonly [string, string, string])[] = [
  ["one put in front", "AB", "NAB"],
  ["one put in front of one", "A", "NA"],
  ["two put in front", "AB", "MNAB"],
  ["one put in the middle", "ABC", "ANBC"],
  ["the first taken out", "ABC", "BC"],
  ["the middle one taken out", "ABC", "AC"],
  ["a rotation to the right", "ABC", "CAB"],
  ["a rotation to the left", "ABC", "BCA"],
  ["two that change places", "AB", "BA"],
  ["a reversal", "ABCD", "DCBA"],
  ["others in all places", "AB", "CD"],
  ["a shift with a new last one", "ABC", "BCN"],
];

describe("a list that is declared by index", () => {
  const SEVERAL = EACH_KIND.flatMap(([kind, { several, adopts, inIntegration }]) =>
    several === undefined
      ? []
      : SHIFTS.map(([how, from, to]) => [kind, how, from, to, { ...several, adopts, inIntegration }] as const),
  );
  test.each(SEVERAL)(
    "%s, %s: those stand that are declared (%s to %s)",
    async (kind, _how, from, to, { inputs, letters, adopts, inIntegration }) => {
      const given = await world();
      await eachSeed(SEEDS, async (seed) => {
        const projectId = `prj-s${seed}`;
        await given.project(projectId, { integration: inIntegration });
        const program = (wanted: string) =>
          byIndex(kind, wanted, (letter) => ({ ...inputs(placeIn(projectId), letter), ...adopts }));
        const stack = given.stack();
        expectDone(await stack.up(program(from), { seed: 0 }));
        expectDone(await stack.up(program(to), { seed }));
        expect(letters(await given.holdings(projectId))).toEqual([...to].sort());
        expectDistinct(stack);
        await expectClean(stack, program(to));
      });
    },
  );

  test.each(SHIFTS)(
    "redirect domains without adopt, %s: an up that fails says what stands, and the next ones get there (%s to %s)",
    async (_, from, to) => {
      const given = await world();
      await eachSeed(SEEDS, async (seed) => {
        const projectId = `prj-s${seed}`;
        await given.project(projectId, { integration: true });
        const stack = given.stack();
        expectDone(await stack.up(domainsOf(projectId, from, false), { seed: 0 }));
        const wanted = domainsOf(projectId, to, false);
        let errors: readonly string[] = ["none yet"];
        for (let time = 0; time <= to.length && errors.length > 0; time += 1) {
          ({ errors } = await stack.up(wanted, { seed: seed + 100 * time }));
          for (const error of errors) expect(error).toMatch(/https:\/\/\w\.example\.com.*"adopt: true"/);
        }
        // What no resource of the program has any more is deleted only at the very end, and blocks its new name until
        // then: the message names the way out.
        if (to.length < from.length && errors.length > 0)
          expectDone(await stack.up(domainsOf(projectId, to), { seed }));
        else expect(errors).toEqual([]);
        expect(await given.domains(projectId)).toEqual(sites(to).sort());
        expectDistinct(stack);
      });
    },
  );

  test.each([
    ["one put in front", [1, 2], [3, 1, 2]],
    ["the first taken out", [1, 2, 3], [2, 3]],
    ["all one further", [1, 2, 3], [2, 3, 4]],
    ["all one back", [2, 3, 4], [1, 2, 3]],
  ])(
    "primaries of branches, %s: one compute on each declared branch, or words and the way there",
    async (_, from, to) => {
      const given = await world();
      await eachSeed(SEEDS, async (seed) => {
        const projectId = `prj-s${seed}`;
        await given.project(projectId);
        const program = (numbers: readonly number[]): Program =>
          numbers.map((n, i) => primary(`r${i}`, projectId, branch(projectId, n)));
        const stack = given.stack();
        expectDone(await stack.up(program(from), { seed: 0 }));
        const before = stack.state.map(({ id }) => id);
        const { errors } = await stack.up(program(to), { seed });
        await expectComputesStand(given, stack, projectId);
        if (errors.length > 0) {
          // The last of the list goes last: whoever wants its branch has to say so.
          for (const error of errors) expect(error).toMatch(/already has a primary compute|two steps/);
          // Nothing was lost.
          const listed = Object.keys(await places(given, projectId)).map((id) => `${projectId}/${id}`);
          expect(listed).toEqual(expect.arrayContaining(before));
          return;
        }
        const taken = Object.values(await places(given, projectId)).sort();
        expect(taken).toEqual(to.map((n) => branch(projectId, n)).sort());
        await expectClean(stack, program(to));
      });
    },
  );
});

describe("an object that two resources declare is refused by the plan, which names both", () => {
  const P = "prj-two";
  const PLACE = placeIn(P);
  const TWICE = EACH_KIND.flatMap(([kind, { twins }]) =>
    twins.map(({ title, one, two, twoKind = kind }) => {
      const first: Declared = { kind, name: "alpha", inputs: one(PLACE) };
      const second: Declared = { kind: twoKind, name: "beta", inputs: two(PLACE) };
      return [title, first, second] as const;
    }),
  );

  test.each(TWICE)("%s", async (_what, one, two) => {
    const given = await world();
    await given.project(P, { integration: KIND_CASES[one.kind].inIntegration });
    await given.forgetRequests();
    for (const program of [
      [one, two],
      [two, one],
    ]) {
      const plan = await given.stack().preview(program);
      const said = plan.errors.join("\n");
      expect(said).toContain("alpha");
      expect(said).toContain("beta");
    }
    expect(await given.mutations()).toEqual([]);
  });

  test.each(TWICE)("%s, in an up without a plan: what came second is not sent", async (_what, one, two) => {
    const given = await world();
    await given.project(P, { integration: KIND_CASES[one.kind].inIntegration });
    const stack = given.stack();
    const { errors } = await stack.up([one, two], { seed: 1, preview: "none", parallel: 1 });
    expect(errors.join("\n")).toContain("alpha");
    expect(errors.join("\n")).toContain("beta");
    expect(stack.state.map(({ name }) => name)).not.toContain("beta");
  });

  test.each(EACH_KIND)("while several of %s that only look alike pass", async (kind, { distinct, inIntegration }) => {
    const given = await world();
    for (const id of [P, "prj-other"]) await given.project(id, { integration: inIntegration });
    const all = distinct(PLACE, placeIn("prj-other"));
    expect(all.length).toBeGreaterThan(1);
    const program: Program = all.map((inputs, i) => ({ kind, name: `r${i}`, inputs }));
    const stack = given.stack();
    for (const preview of ["both", "apart", "none"] as const) {
      expectDone(await stack.up(program, { seed: 3, preview }));
    }
    await expectClean(stack, program);
  });

  test("and what is not known yet is nobody's twin in the plan", async () => {
    const given = await world();
    await given.project(P);
    const program: Program = [
      { kind: "AuthIntegration", name: "auth", inputs: { projectId: P, branchId: branch(P, 1) } },
      {
        kind: "WhitelistDomain",
        name: "alpha",
        inputs: { projectId: output("auth", "projectId"), domain: output("auth", "jwksUrl") },
      },
      { kind: "WhitelistDomain", name: "beta", inputs: { projectId: output("auth", "projectId"), domain: site("a") } },
    ];
    expectDone(await given.stack().preview(program));
  });
});

describe("adopt: true beside a compute that this run takes away", () => {
  /** Once a compute is deleted, lists go on showing it for a while, as a service with replicas of its data may. */
  async function lagging(given: World, lagMs: number): Promise<{ baseUrl: string; server: Server }> {
    const gone: { record: Json; until: number }[] = [];
    const server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        // Chunks of a request are buffers: no encoding was set.
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        const { method = "GET", url = "" } = request;
        const answer = await fetch(new URL(given.url).origin + url, {
          method,
          headers: { authorization: `Bearer ${given.apiKey}`, "content-type": "application/json" },
          ...(body.length > 0 && { body }),
        });
        let text = await answer.text();
        const parsed = text.startsWith("{") ? (JSON.parse(text) as Json) : {};
        if (method === "DELETE" && answer.ok && parsed["endpoint"] !== undefined) {
          gone.push({ record: parsed["endpoint"] as Json, until: Date.now() + lagMs });
        }
        if (method === "GET" && url.endsWith("/endpoints") && Array.isArray(parsed["endpoints"])) {
          const shown = gone.filter(
            ({ until, record }) => until > Date.now() && url.includes(String(record["project_id"])),
          );
          text = JSON.stringify({
            endpoints: [...shown.map(({ record }) => record), ...(parsed["endpoints"] as Json[])],
          });
        }
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
        response.end(answer.status === 204 ? undefined : text);
      })().catch(() => response.destroy());
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A TCP server has no other kind of address.
    const { port } = server.address() as AddressInfo;
    return { baseUrl: `http://127.0.0.1:${port}${new URL(given.baseUrl).pathname}`, server };
  }
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  const ORDERS = [
    ["the old one first", false],
    ["the new one first", true],
  ] as const;
  const ordered = (program: Program, turned: boolean): Program => (turned ? [...program].reverse() : program);

  test.each(
    ORDERS.flatMap(([order, turned]) => [
      [`${order}`, turned, 0] as const,
      [`${order}, and the lists go on showing it`, turned, 20] as const,
    ]),
  )(
    "which is being replaced into another project (%s): one compute in one resource, and it stands",
    async (_, turned, lagMs) => {
      const given = await world();
      const { baseUrl } = await lagging(given, lagMs);
      await eachSeed(SEEDS, async (seed) => {
        const [here, there] = [`prj-h${seed}`, `prj-t${seed}`];
        await given.project(here);
        await given.project(there);
        const stack = given.stack({ lagMs: 60 }, baseUrl);
        const first = [primary("old", here, branch(here, 1))];
        expectDone(await stack.up(first, { seed: 0 }));
        const program = ordered(
          [primary("old", there, branch(there, 1)), primary("new", here, branch(here, 1), { adopt: true })],
          turned,
        );
        expectDone(await stack.up(program, { seed }));
        await atRest(given, here);
        await expectComputesStand(given, stack, here);
        await expectComputesStand(given, stack, there);
        expect(Object.values(await places(given, here))).toEqual([branch(here, 1)]);
        expect(Object.values(await places(given, there))).toEqual([branch(there, 1)]);
        await expectClean(stack, program);
      });
    },
  );

  test.each(ORDERS)("which is being moved away (%s): the new one is not the one that moved", async (_, turned) => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const p = `prj-s${seed}`;
      await given.project(p);
      const stack = given.stack();
      expectDone(await stack.up([primary("alpha", p, branch(p, 1))], { seed: 0 }));
      const { id } = stack.entry("alpha");
      const moving = [primary("alpha", p, branch(p, 2)), primary("beta", p, branch(p, 1), { adopt: true })];
      const { errors } = await stack.up(ordered(moving, turned), { seed });
      if (turned && errors.length > 0) {
        // The other one could not be known yet: then it is reported, and nothing is lost.
        expect(errors.join("\n")).toMatch(/alpha.*beta|beta.*alpha/s);
        expect(await places(given, p)).toHaveProperty(id.split("/")[1] ?? "");
        return;
      }
      expectDone({ errors });
      await expectComputesStand(given, stack, p);
      expect(stack.entry("alpha").id).toBe(id);
      const [, oldId = ""] = id.split("/");
      const [, newId = ""] = stack.entry("beta").id.split("/");
      expect(await places(given, p)).toEqual({ [oldId]: branch(p, 2), [newId]: branch(p, 1) });
    });
  });

  test("which leaves the program: it is taken over, and stays", async () => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const p = `prj-s${seed}`;
      await given.project(p);
      const stack = given.stack();
      expectDone(await stack.up([primary("old", p, branch(p, 1))], { seed: 0 }));
      const { id } = stack.entry("old");
      const program = [primary("new", p, branch(p, 1), { adopt: true })];
      expectDone(await stack.up(program, { seed }));
      expect(stack.entry("new").id).toBe(id);
      await expectComputesStand(given, stack, p);
      await expectClean(stack, program);
    });
  });

  test("a replica that a replaced resource gives up is not taken over by its id", async () => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const [here, there] = [`prj-h${seed}`, `prj-t${seed}`];
      await given.project(here);
      await given.project(there);
      const stack = given.stack();
      expectDone(await stack.up([primary("old", here, branch(here, 1), { type: "read_only" })], { seed: 0 }));
      const [, adopt] = stack.entry("old").id.split("/");
      const program = [
        primary("old", there, branch(there, 1), { type: "read_only" }),
        primary("new", here, branch(here, 1), { type: "read_only", adopt }),
      ];
      const { errors } = await stack.up(program, { seed });
      await expectComputesStand(given, stack, here);
      await expectComputesStand(given, stack, there);
      if (errors.length === 0) await expectClean(stack, program);
    });
  });

  test("a replacement into another project takes over its live primary, keeps it, and deletes only its own", async () => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const [here, live] = [`prj-h${seed}`, `prj-l${seed}`];
      await given.project(here);
      await given.project(live, { compute: true });
      const [compute] = await given.computes(live);
      const stack = given.stack();
      expectDone(await stack.up([primary("api", here, branch(here, 1), { adopt: true })], { seed: 0 }));
      const program = [primary("api", live, branch(live, 1), { adopt: true })];
      const { errors, steps } = await stack.up(program, { seed });
      expectDone({ errors });
      expect(steps.filter((step) => /api$/.test(step)).slice(-2)).toEqual(["create api", "delete replaced api"]);
      expect(stack.entry("api").id).toBe(`${live}/${String(compute?.["id"])}`);
      expect(await given.computes(here)).toEqual([]);
      expect(await given.computes(live)).toHaveLength(1);
      await expectClean(stack, program);
    });
  });
});

describe("a rename without an alias, the old name deleted last", () => {
  const P = (seed: number): string => `prj-s${seed}`;
  const RENAMED = EACH_KIND.filter(([, { adopts }]) => adopts !== undefined);

  test.each(RENAMED)("%s: what stands goes over to the new name, and stays", async (kind, kindCase) => {
    const { adopts, look, inIntegration } = kindCase;
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const place = placeIn(P(seed));
      await given.project(place.projectId, { integration: inIntegration });
      const stack = given.stack();
      expectDone(await stack.up([{ kind, name: "old", inputs: wholeIn(kindCase, place) }], { seed: 0 }));
      const before = look(await given.holdings(place.projectId));
      const program: Program = [{ kind, name: "new", inputs: { ...wholeIn(kindCase, place), ...adopts } }];
      expectDone(await stack.up(program, { seed }));
      expect(look(await given.holdings(place.projectId))).toEqual(before);
      await expectClean(stack, program);
    });
  });

  test("a replica, taken over by its id", async () => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const p = P(seed);
      await given.project(p);
      const stack = given.stack();
      expectDone(await stack.up([primary("old", p, branch(p, 1), { type: "read_only" })], { seed: 0 }));
      const { id } = stack.entry("old");
      const program = [primary("new", p, branch(p, 1), { type: "read_only", adopt: id.split("/")[1] })];
      expectDone(await stack.up(program, { seed }));
      expect(stack.entry("new").id).toBe(id);
      await expectClean(stack, program);
    });
  });

  test.each(EACH_KIND.filter(([, { coexists }]) => coexists))(
    "%s, which another one can stand beside: the new name has its own, and that of the old one is deleted",
    async (kind, { least, look, standing, deletion, inIntegration }) => {
      const given = await world();
      await eachSeed(SEEDS, async (seed) => {
        const place = placeIn(P(seed));
        await given.project(place.projectId, { integration: inIntegration });
        const stack = given.stack();
        const program = (name: string): Program => [{ kind, name, inputs: least(place) }];
        expectDone(await stack.up(program("old"), { seed: 0 }));
        const old = stack.entry("old");
        const before = look(await given.holdings(place.projectId));
        expectDone(await stack.up(program("new"), { seed }));
        expect(stack.state.map(({ name }) => name)).toEqual(["new"]);
        const held = await given.holdings(place.projectId);
        // Objects that nothing deletes are unchanged.
        if (deletion === undefined) expect(look(held)).toEqual(before);
        else expect([standing(held, old), standing(held, stack.entry("new"))]).toEqual([[], [expect.anything()]]);
        await expectClean(stack, program("new"));
      });
    },
  );

  test.each(EACH_KIND.filter(([, { adopts, coexists }]) => adopts === undefined && !coexists))(
    "%s, which cannot be taken over: it is refused with a message, and what stands stays",
    async (kind, { least, look, inIntegration }) => {
      const given = await world();
      const place = placeIn("prj-u");
      await given.project(place.projectId, { integration: inIntegration });
      const stack = given.stack();
      const program = (name: string): Program => [{ kind, name, inputs: least(place) }];
      expectDone(await stack.up(program("old")));
      const before = look(await given.holdings(place.projectId));
      expect((await stack.up(program("new"))).errors.join()).toMatch(/alias/);
      expect(look(await given.holdings(place.projectId))).toEqual(before);
      expect(stack.state.map(({ name }) => name)).toEqual(["old"]);
    },
  );

  test("with an alias nothing is sent", async () => {
    const given = await world();
    await given.project("prj-a", { integration: true });
    const stack = given.stack();
    const program = (name: string, aliases: string[]): Program => [
      { kind: "WhitelistDomain", name, aliases, inputs: { projectId: "prj-a", domain: site("a") } },
    ];
    expectDone(await stack.up(program("old", [])));
    await given.forgetRequests();
    expectDone(await stack.up(program("new", ["old"])));
    expect(await given.mutations()).toEqual([]);
    await expectClean(stack, program("new", ["old"]));
  });
});

describe("between a Whitelist and WhitelistDomains", () => {
  const whole = (projectId: string, letters: string): Program => [
    { kind: "Whitelist", name: "all", inputs: { projectId, domains: sites(letters) } },
  ];
  const single = (projectId: string, letters: string): Program =>
    [...letters].map((letter) => ({
      kind: "WhitelistDomain",
      name: `domain-${letter}`,
      inputs: { projectId, domain: site(letter), adopt: true },
    }));
  test.each([
    ["the same", "ABC", "ABC"],
    ["more", "AB", "ABC"],
    ["fewer", "ABC", "AC"],
    ["others", "ABC", "CD"],
  ])("both ways, with %s: the service holds what is declared", async (_, from, to) => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const p = `prj-s${seed}`;
      await given.project(p, { integration: true });
      const stack = given.stack();
      expectDone(await stack.up(whole(p, from), { seed: 0 }));
      expectDone(await stack.up(single(p, to), { seed }));
      expect(await given.domains(p)).toEqual(sites(to).sort());
      await expectClean(stack, single(p, to));
      expectDone(await stack.up(whole(p, from), { seed: seed + 100 }));
      expect(await given.domains(p)).toEqual(sites(from).sort());
      await expectClean(stack, whole(p, from));
    });
  });
});

describe("primaries that move in one run", () => {
  const PERMUTATIONS = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ];
  /** r0 to r2 on branches 1 to 3, each to go one further. */
  const chain = (p: string, order: readonly number[], by: number): Program =>
    order.map((i) => primary(`r${i}`, p, branch(p, i + 1 + by)));

  test.each(PERMUTATIONS)(
    "a chain of three, registered in the order %i, %i, %i: each arrives, with its id",
    async (...order) => {
      const given = await world();
      await eachSeed(6, async (seed) => {
        const p = `prj-s${seed}`;
        await given.project(p);
        const stack = given.stack();
        expectDone(await stack.up(chain(p, order, 0), { seed: 0 }));
        const ids = Object.fromEntries(stack.state.map(({ name, id }) => [name, id]));
        expectDone(await stack.up(chain(p, order, 1), { seed, parallel: 16 }));
        expect(Object.fromEntries(stack.state.map(({ name, id }) => [name, id]))).toEqual(ids);
        const wanted = order.map((i) => [(ids[`r${i}`] ?? "").split("/")[1], branch(p, i + 2)]);
        expect(await places(given, p)).toEqual(Object.fromEntries(wanted));
        await expectClean(stack, chain(p, order, 1));
      });
    },
  );

  test.each(PERMUTATIONS)(
    "one step at a time (--parallel 1), in the order %i, %i, %i: it gets there, or says how, and loses nothing",
    async (...order) => {
      const given = await world();
      await given.project("prj-one");
      const stack = given.stack();
      expectDone(await stack.up(chain("prj-one", order, 0)));
      const before = Object.keys(await places(given, "prj-one")).sort();
      let errors: readonly string[] = ["none yet"];
      for (let time = 0; time < 4 && errors.length > 0; time += 1) {
        ({ errors } = await stack.up(chain("prj-one", order, 1), { seed: time, parallel: 1, preview: "none" }));
        // With one slot the engine begins no other move while this one waits.
        for (const error of errors) {
          expect(error).toMatch(
            /"r\d" of this program manages ep-\S+, whose move has failed or has not started: with --parallel 1/,
          );
          expect(error).toMatch(
            /run pulumi up without --parallel, or add "r\d" to dependsOn.*Otherwise use two steps/s,
          );
        }
        expect(Object.keys(await places(given, "prj-one")).sort()).toEqual(before);
        // Only the order from the front to the back can go one by one.
        if (errors.length > 0 && order.join() !== "2,1,0") break;
      }
      if (order.join() === "2,1,0") expect(errors).toEqual([]);
      // The messages.
      expectDone(await stack.up(chain("prj-one", order, 1), { seed: 1, parallel: 16 }));
      expect(Object.keys(await places(given, "prj-one")).sort()).toEqual(before);
    },
  );

  test("two that swap: refused with a message, and nothing is changed", async () => {
    const given = await world();
    await eachSeed(SEEDS, async (seed) => {
      const p = `prj-s${seed}`;
      await given.project(p);
      const stack = given.stack();
      expectDone(await stack.up([primary("a", p, branch(p, 1)), primary("b", p, branch(p, 2))], { seed: 0 }));
      const before = await given.holdings(p);
      const state = stack.state;
      const swap = [primary("a", p, branch(p, 2), { size: 4 }), primary("b", p, branch(p, 1), { size: 4 })];
      const { errors } = await stack.up(swap, { seed });
      expect(errors.join("\n")).toMatch(/two steps/i);
      expect(await given.holdings(p)).toEqual(before);
      expect(stack.state.map(({ name, id }) => [name, id])).toEqual(state.map(({ name, id }) => [name, id]));
    });
  });
});

describe("one object in two entries of the state", () => {
  /** The result of two imports, or of an edited state. */
  async function heldTwice(given: World, declared: (name: string) => Declared): Promise<Stack> {
    const stack = given.stack();
    expectDone(await stack.up([declared("alpha")]));
    const [entry] = stack.state;
    if (entry === undefined) throw new Error("nothing is in the state");
    const urn = entry.urn.replace(/alpha$/, "beta");
    const twin = {
      ...entry,
      urn,
      name: "beta",
      inputs: { ...entry.inputs, __urn: urn },
      outs: { ...entry.outs, __urn: urn },
    };
    stack.state = [entry, twin];
    return stack;
  }
  const PLACE = placeIn("prj-twin");
  const { projectId } = PLACE;
  const HELD = EACH_KIND.flatMap(([kind, { heldTwice, look, inIntegration }]) =>
    heldTwice.map(({ title, inputs }) => {
      const declared = (name: string): Declared => ({ kind, name, inputs: inputs(PLACE) });
      const shown = async (given: World) => look(await given.holdings(projectId));
      return [title, declared, shown, inIntegration] as const;
    }),
  );

  test.each(HELD)(
    "%s: once one of them leaves the program, it stays for the other",
    async (_, declared, look, integration) => {
      for (const kept of ["alpha", "beta"]) {
        const given = await world();
        await given.project(projectId, { integration });
        const stack = await heldTwice(given, declared);
        const before = await look(given);
        const { errors } = await stack.up([declared(kept)]);
        for (const error of errors) expect(error).toMatch(/alpha|beta/);
        expect(await look(given)).toEqual(before);
        await expectClean(stack, [declared(kept)]);
      }
    },
  );

  test.each(HELD)(
    "%s: while both declare it, the plan names both, and nothing is changed",
    async (_, declared, look, integration) => {
      const given = await world();
      await given.project(projectId, { integration });
      const stack = await heldTwice(given, declared);
      const before = await look(given);
      await given.forgetRequests();
      const { errors, log } = await stack.up([declared("alpha"), declared("beta")]);
      const said = [...errors, ...log.map(({ message, urn = "" }) => `${urn} ${message}`)].join("\n");
      expect(said).toMatch(/alpha/);
      expect(said).toMatch(/beta/);
      expect(await look(given)).toEqual(before);
      expect(await given.mutations()).toEqual([]);
    },
  );

  test.each(HELD)("%s: destroying both deletes it once", async (_, declared, look, integration) => {
    const given = await world();
    await given.project(projectId, { integration });
    const before = await look(given);
    const stack = await heldTwice(given, declared);
    expect(await look(given)).not.toEqual(before);
    await given.forgetRequests();
    expectDone(await stack.destroy());
    expect(await look(given)).toEqual(before);
    expect(stack.state).toEqual([]);
  });
});

describe("what is on its way out", () => {
  test.each([
    ["deleted", true],
    ["moved away", false],
  ])("because it is being %s cannot be taken over before that is over", async (_how, deletes) => {
    const memory = new RunMemory();
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const leaving = memory.objects.whileReleasing({ objects: ["compute ep-1"], by: "urn::old", deletes }, () => ended);
    const words = "compute ep-1 is being deleted or moved away in this run. Run pulumi up again";
    expect(() => memory.ownership.takeOver("compute ep-1", "urn::new")).toThrow(words);
    expect(() => memory.ownership.takeOver("compute ep-2", "urn::new")).not.toThrow();
    end();
    await leaving;
    memory.ownership.takeOver("compute ep-1", "urn::new");
    expect(memory.ownership.otherOwner("compute ep-1", "urn::old")).toBe("urn::new");
  });
});

test("a mail server that a new resource configures is not reset by the deletion of another one that begins meanwhile", async () => {
  const { given, network } = await emailScene();
  const old = await given.create(EMAIL_STANDARD);
  given.restart();
  const news = { ...EMAIL_STANDARD, host: "smtp.new.example.com", __urn: `${urnOf("EmailServer")}-new` };
  let deleting: Promise<unknown> | undefined;
  network.on({
    method: "PATCH",
    path: EMAIL,
    nth: 1,
    after: async () => {
      // A resource that is replaced into another project is deleted beside the creation.
      deleting = given.provider.delete(old.id, old.outs);
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  });
  await given.provider.create({ ...news, __provider: "pointer" });
  await deleting;
  expect(await mailOf(given)).toMatchObject({ type: "standard", host: "smtp.new.example.com" });
});

test("a compute that is taken over by its id before its own resource is planned is refused, not kept in two entries", async () => {
  const given = await world();
  await given.project("prj-twice");
  const stack = given.stack();
  const at = { projectId: "prj-twice", branchId: branch("prj-twice", 1) };
  const own = {
    kind: "ComputeEndpoint" as const,
    name: "own",
    inputs: { projectId: at.projectId, branchId: at.branchId },
  };
  await stack.up([own], { seed: 1, preview: "none" });
  const id = stack.entry("own").id.split("/")[1] ?? "";
  const thief = {
    kind: "ComputeEndpoint" as const,
    name: "thief",
    inputs: { ...at, branchId: branch("prj-twice", 2), adopt: id },
  };
  // Planned after the takeover has ended.
  const after = { ...own, inputs: { ...own.inputs, projectId: output("thief", "projectId") } };
  const { errors } = await stack.up([thief, after], { seed: 1, preview: "none" });
  expect(errors).not.toEqual([]);
});

test("an integration whose auth provider is not known yet is no twin of the one of the setting", async () => {
  const { given } = await scene(authIntegration);
  const { provider } = given;
  const check = async (name: string, more: object) => {
    const urn = `${urnOf("AuthIntegration")}-${name}`;
    const { failures = [] } = await provider.check(
      {},
      { projectId: PROJECT, branchId: "br-main", __provider: "pointer", __urn: urn, ...more },
    );
    return failures;
  };
  expect(await check("a", { authProvider: UNKNOWN })).toEqual([]);
  expect(await check("b", { authProvider: PROVIDER })).toEqual([]);
});

test("a replacement that makes the new Whitelist first does not delete what that has taken over", async () => {
  const given = await harness(whitelist);
  await withIntegration(given);
  const list = (letters: string) => ({ projectId: PROJECT, domains: [...letters].map(site) });
  const old = await given.create(list("ab"));
  given.restart();
  // As with `deleteBeforeReplace: false` and `replaceOnChanges: ["domains"]`: both have the same URN.
  await given.create(list("bc"));
  await given.provider.delete(old.id, old.outs);
  expect((await listed(given)).sort()).toEqual([site("b"), site("c")]);
});

describe("users that are declared by index", () => {
  test.each([
    ["one put in front", "ab", "nab"],
    ["two that change places", "ab", "ba"],
    ["a rotation", "abc", "bca"],
  ])("%s: each of the declared addresses has a user (%s to %s)", async (_, from, to) => {
    const given = await world();
    await eachSeed(8, async (seed) => {
      const projectId = `prj-s${seed}`;
      await given.project(projectId, { integration: true });
      const stack = given.stack();
      const program = (letters: string): Program =>
        [...letters].map((letter, i) => ({
          kind: "AuthUser",
          name: `r${i}`,
          inputs: { projectId, email: `${letter}@example.com` },
        }));
      expectDone(await stack.up(program(from), { seed: 0 }));
      expectDone(await stack.up(program(to), { seed }));
      const users = (await given.holdings(projectId))["users"] as { email: string }[];
      expect(users.map(({ email }) => email).sort()).toEqual([...to].map((letter) => `${letter}@example.com`).sort());
      await expectClean(stack, program(to));
    });
  });
});
