import { Stack } from "../support/Stack";

const compute = (name: string, branchId: string, options = "{}"): string =>
  `const ${name} = new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "${branchId}", size: 1 }, ${options});`;

/** The lines under "Diagnostics", where each appears once. */
const diagnostics = (text: string): string => text.split("Diagnostics:")[1] ?? "";

const MAY_FAIL = /pulumi up will fail here, unless the same run removes this first: br-test already has a primary/;
const FAILS = /pulumi up will fail here: br-test already has a primary compute \(ep-\S+\).*Use two steps/;
const QUIET = { code: 0, text: expect.not.stringMatching(/will fail here|has no branch/) };

let stack: Stack;
let before: Awaited<ReturnType<Stack["service"]["state"]>>;

beforeAll(async () => {
  stack = await Stack.create({ program: compute("a", "br-dev") + compute("b", "br-test") });
  await stack.service.edit({ kind: "branch", create: { id: "br-free", name: "free" } });
  before = await stack.service.state();
  expect(await stack.run("up", "--yes", "--skip-preview")).toMatchObject({ code: 0 });
  stack.env["SVC_STRICT_PLAN"] = "1";
});

/** A plan of this program, and the lists that it has read. */
async function planned(program: string, ...args: string[]) {
  stack.program(program);
  await stack.service.clearRequests();
  const { code, text } = await stack.preview(...args);
  const asked = (await stack.service.requests()).map(
    ({ method, path }) => `${method} ${String(path).split("/").at(-1)}`,
  );
  return { code, text, said: diagnostics(text), asked: asked.sort() };
}

test("a chain of moves that up deploys passes a strict plan in any order, and the plan costs two lists", async () => {
  // The engine takes them in any order: the plan may say that up fails unless the other one moves, and no more.
  const anyOrder = await planned(compute("a", "br-test") + compute("b", "br-free"));
  expect(anyOrder).toMatchObject({ code: 0, said: expect.not.stringMatching(FAILS) });
  expect(anyOrder.asked).toEqual(["GET branches", "GET endpoints"]);
  const frontFirst = await planned(compute("b", "br-free") + compute("a", "br-test", "{ dependsOn: [b] }"));
  expect(frontFirst).toMatchObject(QUIET);
  // Known under an old name, and protected.
  const renamed = compute("b2", "br-free", '{ aliases: [{ name: "b" }], protect: true }');
  expect(await planned(renamed + compute("a", "br-test", "{ dependsOn: [b2] }"))).toMatchObject(QUIET);
  // The one in front is made a while later.
  const later = `module.exports = async () => { ${compute("a", "br-test")} await new Promise((done) => setTimeout(done, 100)); ${compute("b", "br-free")} };`;
  expect((await planned(later)).code).toBe(0);

  stack.program(compute("a", "br-test") + compute("b", "br-free"));
  expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
});

test("a primary that stays, one that goes last, and a swap fail a strict plan, as they fail up", async () => {
  // Now a is on br-test and b on br-free.
  const program = compute("b", "br-test");
  const last = await planned(program);
  expect(last.code).not.toBe(0);
  expect(last.said).toMatch(FAILS);
  const up = await stack.run("up", "--yes", "--skip-preview");
  expect(up).toMatchObject({ code: 1, text: expect.stringMatching(/br-test already has a primary compute/) });

  const swap = await planned(compute("a", "br-free") + compute("b", "br-test"));
  expect(swap.code).not.toBe(0);
  expect(swap.said).toMatch(/that one in turn waits for the branch of ep-\S+: computes cannot swap branches/);

  delete stack.env["SVC_STRICT_PLAN"];
  const warned = await planned(program);
  expect(warned).toMatchObject({ code: 0, said: expect.stringMatching(MAY_FAIL) });
  expect(warned.said).toMatch(/moves from br-free to br-test.*expect open connections to be dropped/);
  // The compute that leaves is not a target, so nothing is known about it.
  const urn = (await stack.resources()).find(({ urn: one }) => one.endsWith("::b"))?.urn ?? "";
  const targeted = await planned(compute("a", "br-dev") + compute("b", "br-test"), "--target", urn);
  expect(targeted).toMatchObject({ code: 0, said: expect.stringMatching(MAY_FAIL) });
  stack.program(compute("a", "br-test") + compute("b", "br-free"));
  await stack.finish(before);
});
