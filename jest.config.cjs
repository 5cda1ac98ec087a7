const project = (name, testMatch, extra = {}) => ({
  displayName: name,
  testEnvironment: "node",
  testMatch,
  // These are ES modules, which jest loads only as CommonJS: as it does every `import()` of the source.
  transform: {
    "\\.ts$|/node_modules/(jose|oauth4webapi|openid-client)/": [
      "ts-jest",
      { tsconfig: "tsconfig.jest.json", diagnostics: false },
    ],
  },
  transformIgnorePatterns: ["/node_modules/(?!(jose|oauth4webapi|openid-client)/)"],
  modulePathIgnorePatterns: ["<rootDir>/dist"],
  setupFiles: ["<rootDir>/test/support/nodeFlags.cjs"],
  // What a program looks for before it declares a resource: in a clone that nobody has built, the source is found.
  moduleNameMapper: { "^pulumi-svc/provider$": "<rootDir>/src/provider.ts" },
  ...extra,
});

/** Below test, without the ending. */
const PROCESSES = [
  "plugin/process",
  "scripts/*",
  "cli/*",
  "cli/*/*",
  "cli/*/*/*",
  "docs/pages",
  "live/*",
  "index",
  "emulator/cli",
  "emulator/underJest",
  "doors/dynamic/crash",
  "doors/dynamic/grpc",
  "doors/dynamic/manyJobs",
  "doors/dynamic/providerProcess",
  "doors/engine/end",
  "host/processList",
  "program/hovers",
  "program/oldCompiler",
];

/** Folders of test whose tests need what the set-up gets: Postgres, a browser. */
const SERVICES = ["postgres", "browser"];

/**
 * Five projects: `unit` stays in jest's own processes and needs no build; `rules` does too, and holds the rules of
 * docs/design/rules.md against a hostile service and the campaigns over all kinds, which takes minutes; `processes` starts
 * the scripts, the command, a shell and the SDK's provider process, and looks at what is built; `services` has a real
 * Postgres or a real browser beside the emulator; `engine` drives the real Pulumi CLI (see test/engine).
 */
module.exports = {
  // Machines are shared and slow at times; a test that hangs still ends.
  testTimeout: 30_000,
  // Of test.concurrent: the stacks of the fault campaign wait most of their time.
  maxConcurrency: 4,
  projects: [
    // Not by a "!" pattern in testMatch: jest puts the root in place of <rootDir> only where a pattern begins with it.
    project("unit", ["<rootDir>/test/**/*.test.ts"], {
      testPathIgnorePatterns: [
        "<rootDir>/test/engine/",
        "<rootDir>/test/rules/",
        "<rootDir>/test/chance/",
        ...SERVICES.map((folder) => `<rootDir>/test/${folder}/`),
        ...PROCESSES.map((path) => `<rootDir>/test/${path.replaceAll("*", "[^/]*")}\\.test\\.ts$`),
      ],
    }),
    project(
      "processes",
      PROCESSES.map((path) => `<rootDir>/test/${path}.test.ts`),
    ),
    project("rules", ["<rootDir>/test/rules/**/*.test.ts", "<rootDir>/test/chance/**/imitation*.test.ts"]),
    project(
      "services",
      SERVICES.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      { setupFilesAfterEnv: ["<rootDir>/test/support/services.ts"] },
    ),
    project("engine", ["<rootDir>/test/engine/**/*.test.ts", "<rootDir>/test/chance/**/engine*.test.ts"]),
  ],
};
