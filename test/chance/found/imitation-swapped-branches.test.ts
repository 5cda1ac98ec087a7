import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** Two edits let two computes swap their branches. */
const CASE = {
  program: [
    {
      kind: "Group",
      name: "one",
      args: {},
      options: {},
    },
    {
      kind: "AuthIntegration",
      name: "two",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
        adopt: true,
      },
      options: {
        retainOnDelete: true,
      },
    },
    {
      kind: "AuthKeys",
      name: "three",
      args: {
        projectId: {
          $output: ["two", "projectId"],
        },
      },
      options: {
        customTimeouts: true,
        replaceOnChanges: ["name"],
      },
    },
    {
      kind: "ComputeEndpoint",
      name: "four",
      args: {
        projectId: "prj-demo",
        branchId: "br-dev",
        adopt: true,
      },
      options: {
        parent: "one",
      },
    },
    {
      kind: "EmailServer",
      name: "five",
      args: {
        projectId: {
          $output: ["two", "projectId"],
        },
        type: "shared",
      },
      options: {
        customTimeouts: true,
        transform: "clientId",
      },
    },
    {
      kind: "ComputeEndpoint",
      name: "six",
      args: {
        projectId: "prj-demo",
        branchId: "br-test",
      },
      options: {
        ignoreChanges: ["name"],
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
        seed: 545,
      },
    },
    {
      do: "colleague",
      deed: {
        do: "remove provider",
      },
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 550,
        exclude: 5,
      },
    },
    {
      do: "command",
      command: {
        run: "up",
        replace: 3,
        seed: 461,
      },
      trouble: {
        faults: [],
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "argument",
          which: 7,
          argument: 6,
          to: "reference",
        },
        {
          edit: "options",
          which: 0,
          options: {
            protect: true,
            additionalSecretOutputs: ["host"],
          },
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        replace: 2,
        seed: 473,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "options",
          which: 7,
          options: {},
        },
        {
          edit: "argument",
          which: 5,
          argument: 0,
          to: "value",
        },
      ],
    },
    {
      do: "colleague",
      deed: {
        do: "disintegrate",
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "argument",
          which: 3,
          argument: 14,
          to: "other",
        },
        {
          edit: "argument",
          which: 0,
          argument: 9,
          to: "other",
        },
        {
          edit: "options",
          which: 0,
          options: {
            retainOnDelete: true,
            ignoreChanges: ["size"],
          },
        },
      ],
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
        seed: 995,
      },
      trouble: {
        faults: [],
        channel: {
          at: 0,
          how: "disk",
        },
      },
    },
  ],
  lateLists: true,
  protocol: "native",
} as const;

test("two computes do not swap their branches in one step: the refusal asks for two", () =>
  expectToHold(startImitated, CASE));
