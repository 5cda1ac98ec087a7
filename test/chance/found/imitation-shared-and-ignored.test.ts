import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** A colleague makes the provider shared, and the program ignores its client id and changes the secret. */
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
        providerId: "microsoft",
        clientId: "own-id",
        clientSecret: "canary-chance-clientSecret-0",
      },
      options: {
        deleteBeforeReplace: true,
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
    },
    {
      do: "colleague",
      deed: {
        do: "share provider",
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "options",
          which: "OAuthProvider",
          options: {
            ignoreChanges: ["clientId"],
          },
        },
        {
          edit: "argument",
          which: "OAuthProvider",
          argument: 6,
          to: "other",
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 45,
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
      do: "colleague",
      deed: {
        do: "add domain",
        domain: "https://a.example.com",
      },
    },
  ],
} as const;

test("a client id that the program ignores is not set at a provider that became shared", () =>
  expectToHold(startImitated, CASE));
