import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** A new integration comes with a provider that the same command deletes: nobody has used it. */
const CASE = {
  program: [
    { kind: "AuthIntegration", name: "one", args: { projectId: "prj-demo" }, options: {} },
    {
      kind: "OAuthProvider",
      name: "two",
      args: { projectId: { $output: ["one", "projectId"] }, providerId: "google", absent: true, adopt: true },
      options: {},
    },
  ],
  environment: {},
  steps: [{ do: "command", command: { run: "up", seed: 0 } }],
} as const;

test("what comes with an integration and is declared absent is not there before", () =>
  expectToHold(startImitated, CASE));
