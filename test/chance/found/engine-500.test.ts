import type { History } from "../history";
import { startEngine } from "../engine";
import { expectToHold } from "../search";

const HISTORY: History = {
  "program": [
    {
      "kind": "Group",
      "name": "one",
      "args": {},
      "options": {}
    },
    {
      "kind": "AuthIntegration",
      "name": "two",
      "args": {
        "projectId": "prj-demo",
        "branchId": "br-main"
      },
      "options": {}
    },
    {
      "kind": "ComputeEndpoint",
      "name": "three",
      "args": {
        "projectId": "prj-demo",
        "branchId": "br-dev",
        "type": "read_write",
        "name": "reports",
        "size": {
          "min": 1,
          "max": 4
        },
        "scaleToZero": {
          "afterSeconds": 900
        },
        "poolerEnabled": true,
        "poolerMode": "transaction",
        "disabled": false,
        "passwordlessAccess": false,
        "regionId": "aws-us-east-1",
        "provisioner": "k8s-neonvm",
        "settings": {
          "pgSettings": {
            "app.token": "canary-chance-settings-0"
          }
        },
        "restartTriggers": [
          "first"
        ]
      },
      "options": {
        "retainOnDelete": true,
        "parent": "one"
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
      "do": "colleague",
      "deed": {
        "do": "add domain",
        "domain": "https://a.example.com"
      }
    },
    {
      "do": "command",
      "command": {
        "run": "drift --repair"
      }
    },
    {
      "do": "command",
      "command": {
        "run": "drift --repair"
      },
      "trouble": {
        "faults": []
      }
    }
  ]
};

test("the last up (up): nothing to do means equal: \"three\" (prj-demo/ep-autumn-lake-32837868): size: declared {\"max\":4,\"min\":1}, there {\"min\":1,\"max\":4}", () => expectToHold(startEngine, HISTORY));
