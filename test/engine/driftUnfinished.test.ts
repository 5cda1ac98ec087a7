/** A change of `pulumi up` that did not end well is reported as one, and no repair takes it back. */
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

const ENDPOINT = "/projects/{project_id}/endpoints/{endpoint_id}";
const DOMAINS = "/projects/{project_id}/auth/domains";
const [A, B, PARTNER] = ["https://a.example.com", "https://b.example.com", "https://partner.example.com"] as const;

/** Without `other` if its size is 0. */
const dynamic = ({ size = 1, other = 1, domains = [A] as readonly string[], seconds = 3 } = {}): string => `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
const options = { customTimeouts: { create: "${seconds}s", update: "${seconds}s" }, dependsOn: [auth] };
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", name: "api", size: ${size} }, options);
${other === 0 ? "//" : ""}new svc.ComputeEndpoint("other", { projectId: "prj-demo", branchId: "br-test", size: ${other} }, options);
new svc.Whitelist("list", { projectId: "prj-demo", domains: ${JSON.stringify(domains)} }, options);`;

/** The same through the plugin. */
const native: typeof dynamic = (options) =>
  dynamic(options)
    .replace(/new svc\.(\w+)\("/g, 'native("$1", "')
    .replaceAll("}, options)", "}, [], options)");

async function started(program: string, isNative: boolean) {
  const stack = await Stack.create({ program, native: isNative });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { service } = stack;
  const idOf = async (name: string): Promise<string> => (await stack.resource(name)).id.split("/")[1] ?? "";
  /** Over raw HTTP. */
  const sizeOf = async (id: string): Promise<unknown> =>
    (await service.endpoints()).find((one) => one["id"] === id)?.["autoscaling_limit_max_cu"];
  const domains = async (): Promise<string[]> => {
    const { domains: all } = (await service.list("/projects/prj-demo/auth/domains")) as {
      domains: { domain: string }[];
    };
    return all.map(({ domain }) => domain).toSorted();
  };
  return { stack, service, idOf, sizeOf, domains };
}

describe.each([
  ["dynamic", dynamic, false],
  ["native", native, true],
] as const)("%s resources", (_protocol, program, isNative) => {
  test("a deployment that took effect and was answered 502 is nobody else's change, and no repair rolls it back", async () => {
    const { stack, service, idOf, sizeOf } = await started(program(), isNative);
    const ids = { api: await idOf("api"), other: await idOf("other") };
    stack.program(program({ size: 2 }));
    await service.fault({ method: "PATCH", path: ENDPOINT, effect: "done", status: 502, times: 0 });
    expect((await stack.up()).code).not.toBe(0);
    await service.clearFaults();
    expect(await sizeOf(ids.api)).toBe(2);
    const unfinished = { __unfinished: "update", __sent: ["size"] };
    expect(await stack.resource("api")).toMatchObject({ inputs: { size: 1 }, outputs: unfinished });

    const { code, report } = await drift(stack);
    expect({ code, drift: report.drift }).toEqual({
      code: 7,
      drift: [
        expect.objectContaining({
          name: "api",
          change: "unfinished",
          properties: [],
          unfinished: { change: "update", sent: ["size"] },
        }),
      ],
    });
    const said = 'an update of pulumi up is not finished, which had sent "size"';
    const text = await svc(stack, ["drift"]);
    expect(text.stdout).toMatch(/^Stack dev: 1 unfinished\n/);
    expect(text.stdout).toContain(`  ${said}\n  repair: by pulumi up only\n`);
    expect(text.stdout).not.toMatch(/declared +found|repairs this/);
    const fleet = await svc(stack, ["fleet", "drift", "--json"]);
    expect(fleet).toMatchObject({ code: 7 });
    expect(JSON.parse(fleet.stdout)).toMatchObject({ stacks: [{ drift: report.drift }] });

    // Beside changes of somebody, of this resource and of another one.
    await service.edit({ kind: "endpoint", id: ids.api, set: { name: "theirs" } });
    await service.edit({
      kind: "endpoint",
      id: ids.other,
      set: { autoscaling_limit_max_cu: 8, autoscaling_limit_min_cu: 8 },
    });
    const markdown = await svc(stack, ["drift", "--format", "markdown"]);
    expect(markdown.stdout).toContain('| ComputeEndpoint `api` | `name` | `"api"` | `"theirs"` |');
    expect(markdown.stdout).toContain(said.replaceAll('"', "&#34;").slice(0, 30));
    await service.clearRequests();
    const accepted = await svc(stack, ["drift", "--accept", "api", "--force"]);
    expect(accepted).toMatchObject({ code: 7, stdout: expect.stringContaining(`${said}. Run pulumi up`) });
    const ignored = await svc(stack, ["drift", "--ignore", "api", "--reason", "the test"]);
    expect(ignored).toMatchObject({ code: 1, stderr: expect.stringContaining(`"api" cannot be ignored: ${said}`) });
    const repaired = await svc(stack, ["drift", "--repair", "--yes"]);
    expect(repaired).toMatchObject({ code: 7 });
    expect(repaired.stdout).toContain(
      `api is left as it is: ${said}, and the state does not hold the values. Run pulumi up`,
    );
    expect(repaired.stdout).toMatch(/^repaired other \(/m);
    const patched = (await service.requests()).filter(({ method }) => method === "PATCH");
    expect(patched.map(({ path }) => String(path).split("/").at(-1))).toEqual([ids.other]);
    expect([await sizeOf(ids.api), await sizeOf(ids.other)]).toEqual([2, 1]);
    expect((await stack.resource("api")).outputs).toMatchObject(unfinished);

    expect(await stack.up()).toMatchObject({ code: 0 });
    const after = await drift(stack);
    expect(after.report.drift).toMatchObject([{ name: "api", change: "changed", properties: [{ path: "name" }] }]);
    expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({ code: 0 });
    expect(await sizeOf(ids.api)).toBe(2);
  });

  test("an update of a whitelist that failed removes no domain that a partner has added since", async () => {
    const { stack, service, domains } = await started(program(), isNative);
    stack.program(program({ domains: [A, B] }));
    await service.fault({ method: "POST", path: DOMAINS, status: 500, times: 0 });
    expect((await stack.up()).code).not.toBe(0);
    await service.clearFaults();
    await service.edit({ kind: "domain", create: { domain: PARTNER } });
    const plan = await stack.preview();
    expect(plan.text).toMatch(/Whitelist prj-demo \("list"\): adds domains\[1\]; removes none/);
    expect(plan.text).not.toMatch(/takes over|partner/);
    expect((await drift(stack)).report.drift).toMatchObject([
      { name: "list", change: "unfinished", properties: [], unfinished: { change: "update", sent: ["domains"] } },
    ]);
    expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({ code: 7 });
    expect(await domains()).toEqual([A, PARTNER]);
    expect(await stack.up()).toMatchObject({ code: 0, text: expect.stringMatching(/were not removed: .*partner/) });
    expect(await domains()).toEqual([A, B, PARTNER]);
  });

  test("a creation that did not finish is finished by a repair, with what the program declared then", async () => {
    const { stack, service, idOf, sizeOf } = await started(program({ other: 0, seconds: 60 }), isNative);
    stack.program(program({ seconds: 60 }));
    await service.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity left" } });
    expect((await stack.up()).code).not.toBe(0);
    expect(await stack.resource("other")).toMatchObject({ inputs: { size: 1 }, outputs: { __unfinished: "create" } });
    // Pending edits stay so.
    stack.program(program({ size: 2, other: 2, seconds: 60 }));
    expect((await drift(stack)).report.drift).toMatchObject([
      { name: "other", change: "unfinished", properties: [], unfinished: { change: "create" } },
    ]);
    const repaired = await svc(stack, ["drift", "--repair", "--yes"]);
    expect(repaired).toMatchObject({ code: 0, stdout: expect.stringMatching(/^repaired other /m) });
    expect((await stack.resource("other")).outputs).not.toHaveProperty("__unfinished");
    expect(await svc(stack, ["drift"])).toMatchObject({ code: 0 });
    expect([await sizeOf(await idOf("api")), await sizeOf(await idOf("other"))]).toEqual([1, 1]);
    expect(await service.endpoints()).toContainEqual(
      expect.objectContaining({ branch_id: "br-test", current_state: "active" }),
    );
  });
});
