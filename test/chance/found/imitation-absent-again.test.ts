import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** A provider is deleted with its integration, and declared absent in the new one, which has it by itself. */
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
      kind: "OAuthProvider",
      name: "two",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        providerId: "google",
        adopt: true,
      },
      options: {
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
      options: {
        replaceOnChanges: ["name"],
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
    },
    {
      do: "edit",
      edits: [
        {
          edit: "argument",
          which: 0,
          argument: 6,
          to: "other",
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
        faults: [
          {
            on: "changes",
            at: 0,
            how: "odd 200",
          },
        ],
      },
    },
    {
      do: "command",
      command: {
        run: "refresh",
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "move",
          which: 1,
          aliased: false,
        },
        {
          edit: "reorder",
          which: 6,
        },
        {
          edit: "argument",
          which: 0,
          argument: 0,
          to: "other",
        },
      ],
    },
    {
      do: "edit",
      edits: [
        {
          edit: "argument",
          which: 3,
          argument: 9,
          to: "other",
        },
      ],
    },
    {
      do: "colleague",
      deed: {
        do: "delete compute",
        which: 0,
      },
    },
  ],
} as const;

test("what a new integration has by itself is not absent because this run has deleted the former one", () =>
  expectToHold(startImitated, CASE));
