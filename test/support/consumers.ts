/** The ways to install and run a Pulumi program: the rows of docs/toolchains.md. */

/** The form of the program: its files, and the runtime in Pulumi.yaml. */
interface Program {
  readonly files: Readonly<Record<string, string>>;
  readonly packageJson?: object;
  /** `runtime.options` of Pulumi.yaml, and `main`. */
  readonly options?: string;
  readonly main?: string;
  /** The only packages to install beside the SDK and TypeScript, as in docs/toolchains.md. */
  readonly devDependencies?: readonly string[];
  /** A command in `node_modules/.bin` to run before the first `pulumi up`. */
  readonly build?: readonly string[];
}

const DECLARED = `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 })`;
const MODULE = `import * as svc from "pulumi-svc";\nexport const host = ${DECLARED}.host;\n`;
const COMMON = `const svc = require("pulumi-svc");\nexports.host = ${DECLARED}.host;\n`;
const compilerOptions = { strict: true, target: "es2022", module: "node16", moduleResolution: "node16", outDir: "bin" };
const TSCONFIG = JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: true }, files: ["index.ts"] });

const programs = {
  "TypeScript (the default)": { files: { "index.ts": MODULE } },
  "JavaScript, CommonJS": { files: { "index.js": COMMON }, options: "typescript: false" },
  "JavaScript, native ESM": {
    files: { "index.js": MODULE },
    packageJson: { type: "module" },
    options: "typescript: false",
  },
  "TypeScript, native ESM": {
    files: { "index.ts": MODULE, "tsconfig.json": TSCONFIG },
    packageJson: { type: "module" },
    options: 'nodeargs: "--loader ts-node/esm --no-warnings"',
    devDependencies: ["ts-node@10"],
  },
  "TypeScript by tsx": {
    files: { "index.ts": MODULE },
    // The SDK's peer dependency allows only what its ts-node can load, and npm refuses another version without this.
    packageJson: { overrides: { "@pulumi/pulumi": { typescript: "$typescript" } } },
    options: 'typescript: false\n    nodeargs: "--import tsx"',
    main: "index.ts",
    devDependencies: ["tsx@4"],
  },
  "TypeScript, compiled to bin": {
    files: { "index.ts": MODULE, "tsconfig.json": TSCONFIG },
    options: "typescript: false",
    main: "bin/",
    build: ["tsc"],
  },
  "bundled by esbuild, pulumi-svc beside it": {
    files: { "index.ts": MODULE },
    options: "typescript: false",
    main: "bin/",
    devDependencies: ["esbuild@0.28"],
    build: ["esbuild", "index.ts", "--bundle", "--platform=node", "--outfile=bin/index.js", "--external:pulumi-svc"],
  },
} satisfies Readonly<Record<string, Program>>;

export const PROGRAMS: Readonly<Record<keyof typeof programs, Program>> = programs;

export type Manager = "npm" | "pnpm" | "yarn classic" | "yarn" | "Bun";

/** If none is installed, the SDK uses its own for a TypeScript program; the other programs need none. */
type TypeScript = 5 | 6 | 7 | "the SDK's own TypeScript" | "no TypeScript";
const OF_SDK = "the SDK's own TypeScript";
const NONE = "no TypeScript";

export interface Consumer {
  readonly manager: Manager;
  readonly program: keyof typeof programs;
  readonly node: 20 | 22 | 24;
  readonly sdk: string;
  readonly typescript: TypeScript;
  /** Included in every test run; the others only in `npm run test:consumers`. */
  readonly always?: true;
}

export const OLDEST = "3.216.0";
const NEWEST = "3";

/** A covering set: each manager, program, version of Node, of the SDK and of TypeScript is in at least one row. */
export const CONSUMERS: readonly Consumer[] = [
  { manager: "npm", program: "TypeScript (the default)", node: 24, sdk: NEWEST, typescript: 5 },
  { manager: "npm", program: "TypeScript (the default)", node: 22, sdk: NEWEST, typescript: 6 },
  { manager: "npm", program: "TypeScript (the default)", node: 20, sdk: OLDEST, typescript: 5 },
  { manager: "npm", program: "TypeScript (the default)", node: 24, sdk: NEWEST, typescript: OF_SDK, always: true },
  { manager: "npm", program: "TypeScript (the default)", node: 20, sdk: OLDEST, typescript: OF_SDK },
  { manager: "npm", program: "JavaScript, native ESM", node: 20, sdk: OLDEST, typescript: NONE },
  { manager: "npm", program: "TypeScript, native ESM", node: 22, sdk: NEWEST, typescript: 5 },
  { manager: "npm", program: "TypeScript by tsx", node: 24, sdk: NEWEST, typescript: 7 },
  { manager: "npm", program: "bundled by esbuild, pulumi-svc beside it", node: 22, sdk: NEWEST, typescript: NONE },
  { manager: "pnpm", program: "TypeScript (the default)", node: 22, sdk: NEWEST, typescript: 5, always: true },
  { manager: "pnpm", program: "TypeScript (the default)", node: 22, sdk: NEWEST, typescript: OF_SDK },
  { manager: "pnpm", program: "TypeScript, compiled to bin", node: 24, sdk: OLDEST, typescript: 5 },
  { manager: "yarn classic", program: "TypeScript (the default)", node: 22, sdk: NEWEST, typescript: 5 },
  { manager: "yarn classic", program: "JavaScript, CommonJS", node: 22, sdk: NEWEST, typescript: NONE },
  { manager: "yarn", program: "TypeScript (the default)", node: 24, sdk: NEWEST, typescript: 5 },
  { manager: "yarn", program: "JavaScript, CommonJS", node: 20, sdk: OLDEST, typescript: NONE },
  { manager: "Bun", program: "TypeScript (the default)", node: 24, sdk: NEWEST, typescript: 5 },
];

/** As in docs/toolchains.md. */
export const titleOf = ({ manager, program, node, sdk, typescript }: Consumer): string =>
  [
    manager,
    program,
    `Node ${node}`,
    sdk === OLDEST ? `SDK ${OLDEST}` : "newest SDK",
    typeof typescript === "number" ? `TypeScript ${typescript}` : typescript,
  ].join(" | ");
