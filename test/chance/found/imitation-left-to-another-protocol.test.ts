import { startImitated } from "../imitated";
import { expectToHold } from "../search";

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
        ignoreChanges: ["size"],
        provider: "first",
      },
    },
    {
      kind: "EmailServer",
      name: "two",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        type: "shared",
      },
      options: {
        ignoreChanges: ["size"],
        provider: "first",
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
      options: {},
    },
    {
      kind: "OAuthProvider",
      name: "four",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        providerId: "microsoft",
        adopt: true,
      },
      options: {
        ignoreChanges: ["clientSecret"],
        replaceOnChanges: ["host"],
        dependsOn: ["three"],
        provider: "first",
      },
    },
    {
      kind: "ComputeEndpoint",
      name: "five",
      args: {
        projectId: "prj-demo",
        branchId: "br-test",
        type: "read_write",
        name: "reports",
        size: {
          min: 1,
          max: 4,
        },
        scaleToZero: false,
        poolerEnabled: true,
        passwordlessAccess: true,
        regionId: "aws-us-east-1",
        provisioner: "k8s-pod",
        settings: {
          pgSettings: {
            "app.token": {
              $secret: "canary-chance-settings-686",
            },
          },
        },
        restartTriggers: ["first"],
      },
      options: {},
    },
    {
      kind: "ComputeEndpoint",
      name: "six",
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
        poolerEnabled: false,
        poolerMode: "transaction",
        passwordlessAccess: true,
        regionId: "aws-us-east-1",
        settings: {
          pgSettings: {
            "app.token": {
              $secret: "canary-chance-settings-380",
            },
          },
        },
        restartTriggers: ["first"],
        deletionProtection: true,
      },
      options: {
        replaceOnChanges: ["name"],
        dependsOn: ["five"],
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
        seed: 150,
      },
      trouble: {
        faults: [
          {
            on: "deletions",
            at: 4,
            how: "empty 200",
          },
          {
            on: "reads",
            at: 2,
            how: "429",
          },
        ],
        beside: {
          at: 4,
          deed: {
            do: "add user",
            email: "b@example.com",
          },
        },
        end: {
          who: "provider",
          signal: "SIGKILL",
          at: 5,
          moment: "before",
        },
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "move",
          which: 2,
          aliased: true,
        },
        {
          edit: "remove",
          which: 0,
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        refresh: true,
        replace: 1,
        seed: 855,
      },
    },
    {
      do: "command",
      command: {
        run: "up",
        replace: 3,
        seed: 587,
      },
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 239,
      },
      trouble: {
        faults: [
          {
            on: "changes",
            at: 0,
            how: "odd 200, done",
          },
        ],
        beside: {
          at: 3,
          deed: {
            do: "remove user",
            email: "b@example.com",
          },
        },
      },
    },
  ],
  protocol: "changing",
} as const;

test("what a tainted resource has taken over again is not deleted with its former entry, which another protocol serves", () =>
  expectToHold(startImitated, CASE));
