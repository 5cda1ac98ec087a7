import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** --replace with --target for the integration: the engine does not know that the transformed user depends on it. */
const CASE = {
  program: [
    {
      kind: "AuthIntegration",
      name: "one",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
      },
      options: {
        retainOnDelete: true,
        deleteBeforeReplace: true,
        provider: "first",
      },
    },
    {
      kind: "ComputeEndpoint",
      name: "two",
      args: {
        projectId: "prj-demo",
        branchId: "br-dev",
        type: "read_only",
      },
      options: {},
    },
    {
      kind: "ComputeEndpoint",
      name: "three",
      args: {
        projectId: "prj-demo",
        branchId: "br-dev",
      },
      options: {},
    },
    {
      kind: "AuthUser",
      name: "four",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        email: "c@example.com",
      },
      options: {
        additionalSecretOutputs: ["host"],
        dependsOn: ["one"],
        provider: "first",
      },
    },
    {
      kind: "AuthUser",
      name: "five",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        email: "b@example.com",
        name: "Ann",
        authProvider: "supported_provider",
      },
      options: {
        customTimeouts: true,
        transform: "name",
        provider: "first",
      },
    },
    {
      kind: "AuthUser",
      name: "six",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        email: "a@example.com",
      },
      options: {
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
        seed: 533,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "options",
          which: 0,
          options: {
            replaceOnChanges: ["domains"],
            deleteBeforeReplace: true,
          },
        },
        {
          edit: "argument",
          which: 0,
          argument: 15,
          to: "other",
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 787,
      },
    },
    {
      do: "command",
      command: {
        run: "up",
        replace: 0,
        seed: 357,
        target: 6,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "move",
          which: 4,
          aliased: true,
        },
        {
          edit: "argument",
          which: 5,
          argument: 1,
          to: "reference",
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        refresh: true,
        seed: 134,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "argument",
          which: 4,
          argument: 14,
          to: "value",
        },
        {
          edit: "add",
          resource: {
            kind: "Foreign",
            name: "more0",
            args: {
              text: "text 0",
            },
            options: {},
          },
        },
        {
          edit: "options",
          which: 3,
          options: {
            ignoreChanges: ["host", "password"],
          },
        },
      ],
    },
    {
      do: "colleague",
      deed: {
        do: "add user",
        email: "b@example.com",
      },
    },
  ],
  protocol: "native",
} as const;

test("its user goes with the integration, and the next up with a refresh brings it back", () =>
  expectToHold(startImitated, CASE));
