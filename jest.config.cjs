const project = (name, testMatch, extra = {}) => ({
  displayName: name,
  testEnvironment: "node",
  testMatch,
  transform: { "^.+\\.ts$": ["ts-jest", { tsconfig: "tsconfig.json", diagnostics: false }] },
  modulePathIgnorePatterns: ["<rootDir>/dist"],
  ...extra,
});

/** Two projects: `unit` runs in this process, `engine` drives the real Pulumi CLI (see test/engine). */
module.exports = {
  // Machines are shared and slow at times; a test that hangs still ends.
  testTimeout: 30_000,
  projects: [
    // Not by a "!" pattern in testMatch: jest puts the root in place of <rootDir> only where a pattern begins with it.
    project("unit", ["<rootDir>/test/**/*.test.ts"], { testPathIgnorePatterns: ["<rootDir>/test/engine/"] }),
    project("engine", ["<rootDir>/test/engine/**/*.test.ts"]),
  ],
};
