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
        "protect": true,
        "provider": "first"
      }
    },
    {
      "kind": "AuthUser",
      "name": "two",
      "args": {
        "projectId": {
          "$output": [
            "one",
            "projectId"
          ]
        },
        "email": "a@example.com"
      },
      "options": {
        "customTimeouts": true,
        "provider": "first"
      }
    },
    {
      "kind": "OAuthProvider",
      "name": "three",
      "args": {
        "projectId": {
          "$output": [
            "one",
            "projectId"
          ]
        },
        "providerId": "google",
        "adopt": true
      },
      "options": {
        "provider": "first"
      }
    },
    {
      "kind": "ComputeEndpoint",
      "name": "four",
      "args": {
        "projectId": "prj-demo",
        "branchId": "br-dev",
        "type": "read_only"
      },
      "options": {
        "retainOnDelete": true,
        "ignoreChanges": [
          "size"
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
      "do": "edit",
      "edits": [
        {
          "edit": "move",
          "which": 1,
          "aliased": false
        },
        {
          "edit": "remove",
          "which": 1
        }
      ]
    },
    {
      "do": "colleague",
      "deed": {
        "do": "disintegrate"
      }
    },
    {
      "do": "command",
      "command": {
        "run": "destroy"
      }
    },
    {
      "do": "colleague",
      "deed": {
        "do": "resize compute",
        "which": 0
      }
    },
    {
      "do": "command",
      "command": {
        "run": "refresh"
      }
    },
    {
      "do": "edit",
      "edits": [
        {
          "edit": "argument",
          "which": 3,
          "argument": 4,
          "to": "other"
        }
      ]
    },
    {
      "do": "command",
      "command": {
        "run": "up",
        "seed": 0
      }
    }
  ]
} as const;

test("step 7 (up): what is destroyed was named by the plan: oauth_providers google was removed", () => expectToHold(startImitated, CASE));
