import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** Two read replicas of one name are replaced; the old one of the first is deleted before. */
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
      },
      options: {
        deleteBeforeReplace: true,
        customTimeouts: true,
        additionalSecretOutputs: ["host"],
      },
    },
    {
      kind: "EmailServer",
      name: "three",
      args: {
        projectId: {
          $output: ["two", "projectId"],
        },
        type: "shared",
      },
      options: {},
    },
    {
      kind: "ComputeEndpoint",
      name: "four",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
        type: "read_only",
        name: "reports",
        size: {
          min: 1,
          max: 4,
        },
        scaleToZero: {
          afterSeconds: 900,
        },
        poolerEnabled: true,
        poolerMode: "transaction",
        disabled: false,
        passwordlessAccess: false,
        regionId: "aws-us-east-1",
        provisioner: "k8s-neonvm",
        settings: {
          pgSettings: {
            "app.token": "canary-chance-settings-0",
          },
        },
        restartTriggers: ["first"],
      },
      options: {
        protect: true,
        deleteBeforeReplace: true,
        additionalSecretOutputs: ["host"],
        provider: "second",
      },
    },
    {
      kind: "ComputeEndpoint",
      name: "five",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
        type: "read_only",
        name: "reports",
        size: {
          min: 1,
          max: 4,
        },
        scaleToZero: {
          afterSeconds: 900,
        },
        poolerEnabled: true,
        poolerMode: "transaction",
        disabled: false,
        passwordlessAccess: false,
        regionId: "aws-us-east-1",
        provisioner: "k8s-neonvm",
        settings: {
          pgSettings: {
            "app.token": {
              $env: "CHANCE_SECRET_ONE",
            },
          },
        },
        restartTriggers: ["first"],
      },
      options: {
        retainOnDelete: true,
        provider: "second",
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
        seed: 383,
      },
    },
    {
      do: "command",
      command: {
        run: "state taint",
        which: 3,
      },
      trouble: {
        faults: [],
      },
    },
    {
      do: "colleague",
      deed: {
        do: "resize compute",
        which: 0,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "argument",
          which: 0,
          argument: 0,
          to: "other",
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 707,
      },
    },
    {
      do: "command",
      command: {
        run: "state taint",
        which: 4,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "remove",
          which: 2,
        },
        {
          edit: "move",
          which: 1,
          aliased: false,
        },
        {
          edit: "rename",
          which: 4,
          aliased: true,
        },
      ],
    },
  ],
  lateLists: true,
  protocol: "native",
} as const;

test("a read replica waits for one of its name that the run deletes", () => expectToHold(startImitated, CASE));
