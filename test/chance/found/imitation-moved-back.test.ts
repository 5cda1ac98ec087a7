import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** The integration is moved by an alias and back without one; the run that takes it over fails before the deletion. */
const CASE = {
  program: [
    {
      kind: "AuthIntegration",
      name: "one",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
      },
      options: {},
    },
    {
      kind: "AuthUser",
      name: "two",
      args: {
        projectId: {
          $output: ["one", "projectId"],
        },
        email: "a@example.com",
      },
      options: {
        retainOnDelete: true,
        deleteBeforeReplace: true,
      },
    },
  ],
  environment: {},
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
          which: 2,
          argument: 15,
          to: "other",
        },
        {
          edit: "move",
          which: 0,
          aliased: true,
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
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "remove",
          which: 0,
        },
        {
          edit: "argument",
          which: 3,
          argument: 3,
          to: "other",
        },
      ],
    },
  ],
} as const;

test("the plan after the last up is empty, and the integration stays", () => expectToHold(startImitated, CASE));
