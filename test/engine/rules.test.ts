/** The rules of what is announced, refused and kept, with the real engine; test/rules has every case of them in process. */
import { EACH_KIND } from "../kinds";
import { Stack } from "../support/Stack";

const AUTH = 'const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });';

const domains = (letters: string) => `${AUTH}
  ${JSON.stringify([...letters].map((letter) => `https://${letter}.example.com`))}.map((domain, i) =>
    new svc.WhitelistDomain("d" + i, { projectId: auth.projectId, domain, adopt: true }));`;

test("redirect domains that are declared by index: one put in front leaves the others on the whitelist", async () => {
  const stack = await Stack.create({ program: domains("ab") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(domains("nab"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { domains: listed } = await stack.service.list("/projects/prj-demo/auth/domains");
  // The records of the list.
  const found = (listed as { domain: string }[]).map(({ domain }) => domain).sort();
  expect(found).toEqual(["https://a.example.com", "https://b.example.com", "https://n.example.com"]);
  await stack.finish(before);
});

test("an integration on a branch that something new decides: the preview says that users and keys may be lost", async () => {
  const program = (branchId: string, more = "") => `${more}
    new svc.AuthIntegration("auth", { projectId: "prj-demo", branchId: ${branchId} });`;
  const stack = await Stack.create({ program: program('"br-main"') });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const another = 'const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev" });';
  stack.program(program('api.createdAt.apply(() => "br-main")', another));
  const preview = await stack.preview();
  expect(preview).toMatchObject({ code: 0 });
  expect(preview.text).toMatch(/may be replaced when .*branchId.* is known/);
  expect(preview.text).toMatch(/users/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("what two resources declare is refused by the preview, which names both", async () => {
  const stack = await Stack.create({
    program: `${AUTH}
      new svc.WhitelistDomain("alpha", { projectId: "prj-demo", domain: "https://a.example.com" });
      new svc.WhitelistDomain("beta", { projectId: "prj-demo", domain: "https://A.example.com/" });`,
  });
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  // Each has its line; the words of the one name the other.
  const [refused = ""] = preview.text.split("\n").filter((line) => /alpha/.test(line) && /declare/i.test(line));
  expect(refused).not.toBe("");
  expect(preview.text).toMatch(/beta/);
  expect(await stack.service.mutations()).toEqual([]);
});

test("looking up what does not exist fails, and names the id, for every kind", async () => {
  const stack = await Stack.create({ program: "" });
  for (const [kind, { idIn }] of EACH_KIND) {
    const id = idIn("prj-demo");
    stack.program(`exports.found = svc.${kind}.get("thing", "${id}").projectId;`);
    const { code, text } = await stack.up();
    expect([kind, code === 0, text.includes(id)]).toEqual([kind, false, true]);
  }
});
