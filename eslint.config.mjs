import tseslint from "typescript-eslint";
import { forbidden, HOUSE } from "./scripts/check/house.mjs";

const restricted = (files, patterns) => ({
  files: [files],
  rules: { "@typescript-eslint/no-restricted-imports": ["error", { patterns }] },
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
          message: "The environment is read in contract/settings, cli and scripts only.",
        },
      ],
    },
  },
  // Who may import whom.
  ...HOUSE.flatMap((row) => [
    restricted(row.files, forbidden(row)),
    ...Object.entries(row.except ?? {}).map(([file, packages]) => restricted(file, forbidden(row, packages))),
  ]),
  {
    files: ["src/contract/settings.ts", "src/cli/**", "scripts/**", "test/**", "bench/**"],
    rules: { "no-restricted-properties": "off" },
  },
);
