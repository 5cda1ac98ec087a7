import { startImitated } from "../imitated";
import { expectToHold } from "../search";

const CASE = {
  "program": [
    {
      "kind": "AuthIntegration",
      "name": "one",
      "args": {
        "projectId": "prj-demo",
        "branchId": "br-main"
      },
      "options": {
        "customTimeouts": true,
        "transform": "clientId"
      }
    },
    {
      "kind": "ComputeEndpoint",
      "name": "two",
      "args": {
        "projectId": "prj-demo",
        "branchId": "br-dev",
        "type": "read_only"
      },
      "options": {
        "protect": true,
        "customTimeouts": true,
        "dependsOn": [
          "one"
        ]
      }
    }
  ],
  "environment": {
    "CHANCE_SECRET_ONE": "canary-chance-environment-chance_secret_one",
    "CHANCE_SECRET_TWO": "canary-chance-environment-chance_secret_two"
  },
  "steps": [
    {
      "do": "command",
      "command": {
        "run": "up",
        "seed": 0
      }
    },
    {
      "do": "command",
      "command": {
        "run": "up",
        "replace": 0,
        "seed": 0
      },
      "trouble": {
        "faults": [],
        "otherAccount": true
      }
    },
    {
      "do": "edit",
      "edits": [
        {
          "edit": "rename",
          "which": 0,
          "aliased": false,
          "adopts": true
        }
      ]
    },
    {
      "do": "command",
      "command": {
        "run": "up",
        "target": 0,
        "seed": 0
      }
    },
    {
      "do": "command",
      "command": {
        "run": "up",
        "target": -1,
        "seed": 0
      }
    },
    {
      "do": "command",
      "command": {
        "run": "destroy",
        "excludeProtected": true
      },
      "trouble": {
        "faults": []
      }
    }
  ]
} as const;

test("step 5 (destroy): what a command has removed is in no state: \"one\": integrations 49419294-4950-42b5-8396-2678784553be was removed", () => expectToHold(startImitated, CASE));
