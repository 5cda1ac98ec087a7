import tseslint from "typescript-eslint";

/**
 * The dependency rules of the house (CONTRIBUTING.md, "Who may import whom"). Each entry forbids what a folder must not
 * reach for; the message says why.
 */
const PULUMI = {
  regex: "^@pulumi/",
  message: "@pulumi/pulumi belongs to resources, components, functions and dynamic.",
};
const AXIOS = {
  regex: "^axios$",
  message: "axios belongs to client/http/transport alone: its errors hold the API key.",
};
const ZOD_AT_START = {
  regex: "^(zod|axios|hono|@hono/.*|commander)$",
  message: "This file is loaded by every program that imports pulumi-svc: keep zod, axios and the emulator out of it.",
};
const PROVIDER_SIDE = {
  regex: "/(provider|lifecycles/.*|client(/.*)?|dynamic/(host|session|shape|lifecycle))$",
  message: "The program side must not load the provider side (import type is fine).",
};
const folder = (name) => ({ regex: `^(\\.\\./)+${name}(/|$)`, message: `This folder must not import ${name}.` });
const OWN = [
  "client",
  "emulator",
  "resources",
  "components",
  "functions",
  "dynamic",
  "cli",
  "helpers",
  "index",
  "provider",
];
const allBut = (...keep) => OWN.filter((name) => !keep.includes(name)).map(folder);

const forbid = (files, patterns, ignores = []) => ({
  files,
  ignores,
  rules: {
    "@typescript-eslint/no-restricted-imports": [
      "error",
      { patterns: patterns.map((p) => ({ allowTypeImports: p === PROVIDER_SIDE || p === ZOD_AT_START, ...p })) },
    ],
  },
});

export default tseslint.config(
  { ignores: ["dist", "node_modules", "coverage", "**/*.cjs", "examples/**/node_modules"] },
  ...tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-dynamic-delete": "off",
      "@typescript-eslint/no-extraneous-class": "off",
      "no-restricted-properties": [
        "error",
        {
          object: "process",
          property: "env",
          message: "The environment is read in dynamic/settings, cli and scripts only.",
        },
      ],
    },
  },
  forbid(["src/client/**"], [PULUMI, AXIOS, ...allBut("client")], ["src/client/http/transport.ts"]),
  forbid(["src/client/http/transport.ts"], [PULUMI, ...allBut("client")]),
  forbid(["src/emulator/**"], [PULUMI, AXIOS, ...allBut("emulator", "dynamic")]),
  forbid(["src/helpers/**"], [PULUMI, AXIOS, ZOD_AT_START, ...allBut("helpers")]),
  forbid(["src/dynamic/**"], [AXIOS, ...allBut("dynamic", "client", "helpers")]),
  forbid(["src/lifecycles/**"], [PULUMI, AXIOS, ...allBut("lifecycles", "resources", "dynamic", "client", "helpers")]),
  forbid(["src/resources/**"], [AXIOS, ZOD_AT_START, PROVIDER_SIDE, ...allBut("resources", "dynamic", "helpers")]),
  forbid(
    ["src/components/**"],
    [AXIOS, ZOD_AT_START, PROVIDER_SIDE, ...allBut("components", "resources", "dynamic", "helpers")],
  ),
  forbid(
    ["src/functions/**"],
    [AXIOS, ZOD_AT_START, ...allBut("functions", "resources", "dynamic", "client", "helpers")],
  ),
  forbid(["src/index.ts"], [PULUMI, AXIOS, ZOD_AT_START]),
  forbid(["src/provider.ts"], [PULUMI, AXIOS]),
  forbid(["src/cli/**"], [AXIOS]),
  {
    files: ["src/contract/settings.ts", "src/cli/**", "scripts/**", "test/**", "bench/**"],
    rules: { "no-restricted-properties": "off" },
  },
);
