import { api, control, INTEGRATION, integrate, start } from "../../support/emulator";
import { codeBlocks } from "../../support/codeBlocks";

/** The requests of a block: `curl [-X METHOD] $E/path [-d 'body']`, with what follows as a comment. */
const REQUEST = /^curl (?:-X (?<method>[A-Z]+) )?"?\$E(?<path>\/[^\s"]*)"?(?: -d '(?<body>[^']*)')?(?:\s+#.*)?$/;

test("what docs/emulator.md sends to the control routes of computes, tokens, mail and the OpenAPI document is accepted as it stands", async () => {
  const blocks = codeBlocks("docs/emulator.md").filter(({ note }) => note === "requests");
  expect(blocks.length).toBeGreaterThan(0);
  const emulator = await start();
  await integrate(emulator);
  const { project_id, auth_provider } = INTEGRATION;
  await api(emulator, "POST", "/projects/auth/user", { project_id, auth_provider, email: "ana@example.com" });
  let kid = "";
  for (const line of blocks.flatMap(({ text }) => text.trim().split("\n"))) {
    const { method, path = "", body } = REQUEST.exec(line)?.groups ?? {};
    const sent = body === undefined ? undefined : (JSON.parse(body) as unknown);
    const verb = method ?? (body === undefined ? "GET" : "POST");
    const answer = await control(emulator.url, verb, path.replace("KID", kid), sent);
    expect([line, answer.status < 300]).toEqual([line, true]);
    kid = String(answer.body.kid ?? kid);
  }
});
