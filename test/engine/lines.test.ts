import { Stack } from "../support/Stack";

interface EngineEvent {
  diagnosticEvent?: { message: string; severity: string; ephemeral?: boolean; urn?: string };
}

const program = (size: number) =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: ${size} });`;

/** The diagnostics of an `up`, in order of arrival. */
async function diagnostics(stack: Stack): Promise<Required<EngineEvent>["diagnosticEvent"][]> {
  const run = await stack.run("up", "--yes", "--skip-preview", "--json");
  expect(run).toMatchObject({ code: 0 });
  const events = run.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as EngineEvent);
  // The SDK's own debug lines are not ours.
  return events.flatMap(({ diagnosticEvent }) =>
    diagnosticEvent === undefined || diagnosticEvent.severity === "debug" ? [] : [diagnosticEvent],
  );
}

test("a wait moves on the resource's own line and leaves nothing behind; svc:quiet turns it off", async () => {
  const stack = await Stack.create({ program: program(1), emulator: { activationMs: 2_600 } });
  const before = await stack.service.state();
  const lines = await diagnostics(stack);
  const progress = lines.filter(({ ephemeral }) => ephemeral);
  expect(progress[0]?.message).toMatch(/^starting, start_compute running, \d+ s/);
  expect(progress.at(-1)?.message.trim()).toBe("");
  expect(progress.every(({ urn }) => urn?.endsWith("::api"))).toBe(true);
  expect(lines.filter(({ ephemeral }) => !ephemeral)).toEqual([]);

  await stack.config("svc:quiet", "true");
  stack.program(program(2));
  expect((await diagnostics(stack)).filter(({ ephemeral }) => ephemeral)).toEqual([]);
  await stack.finish(before);
});

test("a warning is told once in the preview and once in the update, on the resource's own line; SVC_LOG=debug shows the requests", async () => {
  const stack = await Stack.create({ program: program(1) });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.env["SVC_LOG"] = "debug";
  stack.program(program(2));
  const { text } = await stack.run("up", "--yes");
  // Under "Diagnostics"; the moving line shows it as well.
  const told = text.match(
    /^ +warning: a change of "size" restarts compute ep-\S+ \("api"\) when it is active: open connections are dropped$/gm,
  );
  expect(told).toHaveLength(2);
  expect(text).toMatch(
    /pulumi-svc: PATCH \/projects\/\{project_id\}\/endpoints\/\{endpoint_id\} -> 200, \d+ ms, attempt 1$/m,
  );
  delete stack.env["SVC_LOG"];
  stack.program(program(4));
  const warnings = (await diagnostics(stack)).filter(({ severity }) => severity === "warning");
  expect(warnings.map(({ urn, ephemeral }) => [urn?.split("::").at(-1), ephemeral ?? false])).toEqual([["api", false]]);
  await stack.finish(before);
});
