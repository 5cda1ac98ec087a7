import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** The folder of the run breaks while the creation of a Whitelist removes the domain of somebody else. */
const CASE = {
  program: [
    {
      kind: "AuthIntegration",
      name: "one",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
        adopt: true,
      },
      options: {
        protect: true,
        replaceOnChanges: ["name"],
      },
    },
    {
      kind: "Whitelist",
      name: "two",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        domains: ["https://app.example.com"],
      },
      options: {
        additionalSecretOutputs: ["host"],
      },
    },
    {
      kind: "ComputeEndpoint",
      name: "three",
      args: {
        projectId: "prj-demo",
        branchId: "br-dev",
        type: "read_only",
      },
      options: {
        customTimeouts: true,
        provider: "first",
      },
    },
  ],
  environment: {
    CHANCE_SECRET_ONE: "canary-chance-environment-chance_secret_one",
    CHANCE_SECRET_TWO: "canary-chance-environment-chance_secret_two",
  },
  steps: [
    {
      do: "command",
      command: {
        run: "up",
        seed: 0,
      },
      trouble: {
        faults: [
          {
            on: "reads",
            at: 0,
            how: "403",
          },
        ],
      },
    },
    {
      do: "colleague",
      deed: {
        do: "add domain",
        domain: "https://a.example.com",
      },
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 0,
      },
      trouble: {
        faults: [],
        end: {
          who: "provider",
          signal: "SIGKILL",
          at: 6,
          moment: "after",
        },
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "rename",
          which: 0,
          aliased: false,
          adopts: true,
          elsewhere: true,
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 0,
      },
      trouble: {
        faults: [],
        channel: {
          at: 0,
          how: "folder",
        },
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "rename",
          which: 2,
          aliased: false,
          adopts: true,
          elsewhere: true,
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 0,
      },
      trouble: {
        faults: [],
        channel: {
          at: 4,
          how: "folder",
        },
      },
    },
  ],
} as const;

test("the creation that has cleared the list is done", () => expectToHold(startImitated, CASE));
