import { shownYaml } from "../../../../src/cli/drift/accept/shownText";
import { SECRET } from "../../../../src/cli/drift/report";

const CONFIG = `encryptionsalt: v1:canary-salt
config:
  proj:size: 2
  proj:apiToken: canary-plain # canary-comment
  proj:token_ttl: 3600
  proj:sealed:
    secure: v1:canary-sealed
  proj:password: |
    canary-block
      canary-deeper

    canary-after-a-blank-line
  proj:passwords:
    - canary-item
    - name: canary-nested
  proj:secrets:
  - canary-at-its-own-indent
  proj:tokens: [canary-flow,
    canary-continued]
  proj:dsn: postgres://u:canary-address@h/db
  proj:mail:
    host: smtp.example.com
    password: canary-inner
    port: 587
  proj:certificate: >-
    -----BEGIN ${"PRIVATE"} KEY-----
    canary-of-a-key
  proj:list:
    - postgres://u:canary-in-a-list@h/db
    - size: 4
      clientSecret: canary-in-an-item
  # apiToken: canary-note
  proj:last: 8
`;

test("of a stack's configuration no secret is shown, in whatever form of YAML, and all else is", () => {
  const shown = shownYaml(CONFIG);
  expect(shown).not.toContain("canary");
  expect(shown.split("\n")).toHaveLength(CONFIG.split("\n").length);
  // A text that begins a secret is hidden with it.
  const harmless = CONFIG.split("\n").filter((line) => !/canary|BEGIN|[|>]-?$/.test(line));
  for (const line of harmless) expect(shown.split("\n")).toContain(line);
  expect(shown).toContain(`    password: "${SECRET}"\n    port: 587\n`);
});
