import { readdirSync } from "node:fs";
import { basename } from "node:path";
import tseslint from "typescript-eslint";

/**
 * Who may import whom. The table of CONTRIBUTING.md is written from it, too (`npm run docs`).
 *
 * `imports`: what of src may be imported, beside the folder itself. `classes` are the files of resources that a program
 * loads (PascalCase) with their declarations, `lifecycles` those that only the provider's process loads (camelCase).
 * `types`: what may be imported as types only. `packages`: beside what Node brings along.
 * `layers`: folders of the row from the bottom up, with the packages of each. None imports one above it.
 */
export const importRules = [
  {
    files: "src/index.ts",
    what: "the public surface. Loading it loads neither axios nor zod",
    imports: ["program", "classes", "components", "functions", "helpers"],
    types: ["queries"],
  },
  {
    files: "src/native.ts",
    what: "`pulumi-svc/native`: the public surface on the types of the native plugin",
    imports: ["program", "index"],
  },
  {
    files: "src/provider.ts",
    what: "`pulumi-svc/provider`: what users' state points at. A permanent contract",
    imports: ["contract", "host", "doors", "resources/lifecycles"],
  },
  {
    files: "src/contract/**",
    what: "what both processes agree on: pointer and kinds, hidden keys, unknowns, settings",
    imports: [],
  },
  {
    files: "src/program/**",
    what: "the program's side of any resource: base class, Provider, inputs, checks of the installation",
    imports: ["contract", "helpers"],
    packages: ["@pulumi/pulumi"],
  },
  {
    files: "src/host/**",
    what: "the provider's side of any resource, in no protocol: state, plan, calls of lifecycles, arguments, the memory of the run",
    imports: ["contract", "client", "helpers"],
    packages: ["zod"],
  },
  {
    files: "src/doors/**",
    what: "what the engine's protocols need of the host: a folder for each, `dynamic` and `native`, and `engine` for what does not depend on the protocol",
    imports: ["contract", "host", "helpers", "queries", "resources/lifecycles"],
    packages: ["@pulumi/pulumi"],
  },
  {
    files: "src/resources/*/[A-Z]*.ts",
    what: "a resource as a program sees it: its class",
    imports: ["program", "helpers", "classes"],
    packages: ["@pulumi/pulumi"],
  },
  {
    files: "src/resources/*/[a-z]*.ts",
    what: "the same at the provider and for commands: its lifecycle, schemas, mapping, tools. Of other resources `shared` only",
    imports: ["contract", "host", "client", "helpers", "own lifecycles"],
    types: ["program"],
    packages: ["zod"],
  },
  {
    files: "src/resources/*/*Declaration.ts",
    what: "what both know of it: the types of its arguments and outputs, and a table of what holds of each",
    imports: ["contract", "helpers"],
  },
  {
    files: "src/resources/lifecycles.ts",
    what: "the table of the lifecycles of all kinds, for every door and for commands",
    imports: ["contract", "host", "lifecycles"],
  },
  {
    files: "src/resources/tools.ts",
    what: "the table of what commands know of each kind",
    imports: ["contract", "lifecycles"],
  },
  {
    files: "src/components/**",
    what: "several resources in one block",
    imports: ["contract/componentNames", "contract/redirectDomains", "program", "classes", "helpers"],
    packages: ["@pulumi/pulumi"],
  },
  {
    files: "src/functions/**",
    what: "look-ups that run in the program. They load the client with the first call",
    imports: ["contract", "program", "queries", "helpers"],
    types: ["host"],
    packages: ["@pulumi/pulumi"],
  },
  {
    files: "src/queries/**",
    what: "what look-ups ask the service, and their types. Without the SDK",
    imports: ["contract/forms", "contract/identifiers", "helpers"],
    types: ["client"],
  },
  { files: "src/helpers/**", what: "pure functions from the service's limits", imports: [] },
  {
    files: "src/audit/**",
    what: "`pulumi-svc/audit`: the rules of `doctor --audit`, for policy packs too. Without the SDK",
    imports: ["contract", "helpers"],
  },
  {
    files: "src/client/**",
    what: "the typed API: transport, retry, reads, queue, waits. It knows nothing of Pulumi",
    imports: [
      "contract/forms",
      "contract/hostAndPort",
      "contract/proxy",
      "contract/redirectDomains",
      "contract/references",
      "contract/secretNames",
      "contract/standIns",
      "contract/untrusted",
    ],
    packages: ["zod"],
    except: { "src/client/http/transport.ts": ["axios", "zod"] },
  },
  {
    files: "src/emulator/**",
    what: "the local service. No schema of the client: it would share a mistake",
    imports: ["contract/installation", "contract/secretNames", "helpers/connectionUri", "helpers/maxConnections"],
    packages: ["hono", "zod", "pg"],
    layers: { model: ["zod"], http: ["hono", "zod"], routes: ["zod"], control: ["hono", "zod"], page: ["hono"] },
  },
  {
    files: "src/cli/**",
    what: "the command `pulumi-svc`",
    imports: [
      "contract",
      "client",
      "host",
      "doors",
      "provider",
      "resources/lifecycles",
      "resources/tools",
      "emulator",
      "helpers",
      "audit",
      "components/origins",
      "classes",
    ],
    packages: ["commander", "diff", "zod"],
    except: { "src/cli/drift/repair/*.ts": ["@pulumi/pulumi", "zod"] },
  },
];

/** Folders of src, and three files: what users' state loads, and the tables of all kinds. */
const FOLDERS = [
  "contract",
  "program",
  "host",
  "doors",
  "components",
  "functions",
  "queries",
  "helpers",
  "audit",
  "client",
  "emulator",
  "cli",
  "provider",
  "resources/lifecycles",
  "resources/tools",
];

/** The import specifiers of what stands in resources, as seen from src, or from a folder of resources. */
const CLASSES = "^(\\.\\.?/)+resources/\\w+/([A-Z]|\\w+Declaration$)";
const OWN_LIFECYCLES = "^(\\./(?!\\w+Declaration$)[a-z]|\\.\\./shared/)";
const LIFECYCLES = "^(\\.\\.?/)+resources/\\w+/(?!\\w+Declaration$)[a-z]";
const OTHER_RESOURCES = "^\\.\\./(?!shared/)\\w+/(?!\\w+Declaration$)[a-z]";

const PACKAGES = {
  "@pulumi/pulumi": "^@pulumi/",
  axios: "^axios$",
  zod: "^zod$",
  hono: "^(hono|@hono/.*)(/|$)",
  commander: "^commander$",
  diff: "^diff$",
  pg: "^pg$",
};

/**
 * The entries of eslint's no-restricted-imports for one row of the house.
 * @param {(typeof importRules)[number]} row
 * @param {string[]} packages
 */
function forbidden({ files, imports, types = [], packages: own = [] }, packages = own) {
  /** @type {{ regex: string, message: string, allowTypeImports: boolean, caseSensitive: true }[]} */
  const patterns = [];
  /** @type {(regex: string, message: string, allowTypeImports?: boolean) => void} */
  const forbid = (regex, message, allowTypeImports = false) => {
    patterns.push({ regex, message, allowTypeImports, caseSensitive: true });
  };
  const where = `${files} may import ${[...imports, ...packages].join(", ") || "nothing of ours"} only (CONTRIBUTING.md).`;
  for (const folder of FOLDERS) {
    if (imports.includes(folder) || files.startsWith(`src/${folder}/`)) continue;
    const parts = imports.filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1));
    const but = parts.length > 0 ? `(?!/(${parts.join("|")})$)` : "";
    forbid(`^(\\.\\.?/)+${folder}(?=/|$)${but}`, where, types.includes(folder));
  }
  if (!imports.includes("classes")) forbid(CLASSES, where);
  if (!imports.includes("lifecycles")) forbid(LIFECYCLES, where);
  if (/^src\/resources\/\w+\.ts$/.test(files)) forbid("^\\./\\w+/[A-Z]", where);
  if (files.startsWith("src/resources/*/")) {
    forbid(OTHER_RESOURCES, where);
    if (imports.includes("own lifecycles")) forbid("^\\./[A-Z]", where, true);
    else forbid(OWN_LIFECYCLES, where);
  }
  for (const [name, regex] of Object.entries(PACKAGES)) if (!packages.includes(name)) forbid(regex, where);
  return patterns;
}

/** @type {(files: string, patterns: ReturnType<typeof forbidden>) => import("typescript-eslint").ConfigArray[number]} */
const restricted = (files, patterns) => ({
  files: [files],
  rules: { "@typescript-eslint/no-restricted-imports": ["error", { patterns }] },
});

/**
 * @param {(typeof importRules)[number]} row
 * @returns {ReturnType<typeof restricted>[]}
 */
function layers(row) {
  return Object.entries(row.layers ?? {}).map(([folder, packages], at, all) => {
    const files = row.files.replace("**", `${folder}/**`);
    const below = all.slice(0, at).map(([name]) => name);
    const above = all.slice(at + 1).map(([name]) => name);
    const patterns = forbidden({ ...row, files, imports: [...below, ...row.imports] }, packages);
    const where = `${files} may not import ${above.join(", ")}, which stand above it (CONTRIBUTING.md).`;
    const regex = `^\\.\\./(${above.join("|")})/`;
    const upwards = { regex, message: where, allowTypeImports: false, caseSensitive: /** @type {const} */ (true) };
    return restricted(files, [...patterns, upwards]);
  });
}

/** Values that few files may make, since others rely on what they prove. */
const MARKED = {
  selector: 'TSAsExpression[typeAnnotation.typeName.name="Marked"]',
  message: "Only host/secrets.ts makes one (rule 7 of docs/design/rules.md).",
};
const GATED = {
  selector: 'TSAsExpression[typeAnnotation.typeName.name="GatedRequest"]',
  message: "Only client/gate.ts makes one (rule 9 of docs/design/rules.md).",
};
const PROOF = {
  selector: "CallExpression[callee.object.name=/^(Gone|Granted|Refused|Unknown)$/]",
  message: "Only look-ups make a proof (rule 9 of docs/design/rules.md).",
};

/** The names of the classes in src/resources are those of the kinds. */
const KINDS = readdirSync(new URL("src/resources", import.meta.url), { recursive: true, encoding: "utf8" })
  .map((file) => basename(file, ".ts"))
  .filter((name) => /^[A-Z]\w+$/.test(name))
  .join("|");
/** What commands know of a kind stands beside it. In a longer text for people, a kind may be named. */
const NAMED_KIND = {
  selector: `:matches(Identifier[name=/^(${KINDS})$/], Literal[value=/^(${KINDS})$/])`,
  message: "Commands name no kind: it belongs into src/resources/<kind>/<kind>Tools.ts (CONTRIBUTING.md).",
};
const OF_COMMANDS = /^src\/cli\//;

/** The files that ask the service or the memory of the run, and so may answer. */
const LOOK_UPS = [
  "src/client/proof.ts",
  "src/client/collection.ts",
  "src/client/api/ownIntegration.ts",
  "src/client/api/auth.ts",
  "src/client/api/domains.ts",
  "src/client/api/computes.ts",
  "src/client/api/projects.ts",
  "src/host/ignored.ts",
  "src/host/run/others.ts",
  "src/host/run/ownership.ts",
  "src/host/run/plans.ts",
  "src/host/run/otherProcesses.ts",
  "src/host/replacement.ts",
  "src/resources/shared/integrationChild.ts",
  "src/resources/authIntegration/authIntegrationLifecycle.ts",
  "src/resources/computeEndpoint/leftoverCompute.ts",
  "src/resources/computeEndpoint/lookAhead.ts",
  "src/resources/computeEndpoint/sending.ts",
  "src/resources/oauthProvider/oauthProviderLifecycle.ts",
  "src/resources/whitelist/leftoverDomain.ts",
  "src/cli/sweep/deletions.ts",
  "src/cli/sweep/locks.ts",
  "src/cli/sweep/sweep.ts",
];

/** @type {(files: string[], refused: { selector: string, message: string }[]) => import("typescript-eslint").ConfigArray[number]} */
const madeIn = (files, refused) => ({ files, rules: { "no-restricted-syntax": ["error", ...refused] } });

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
      // A name for what errors and editors would show as the expression that it is made by.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/no-extraneous-class": "off",
      "no-restricted-properties": [
        "error",
        {
          object: "process",
          property: "env",
          message:
            "The environment is read in contract/settings, contract/references, contract/proxy, helpers/connectionUri, emulator/postgres/programs, cli and scripts only.",
        },
      ],
    },
  },
  // Who may import whom.
  ...importRules.flatMap((row) => [
    restricted(row.files, forbidden(row)),
    ...Object.entries(row.except ?? {}).map(([file, packages]) => restricted(file, forbidden(row, packages))),
    ...layers(row),
  ]),
  madeIn(["src/**"], [MARKED, PROOF, GATED]),
  madeIn(["src/host/secrets.ts"], [PROOF, GATED]),
  madeIn(["src/client/gate.ts"], [MARKED, PROOF]),
  madeIn(
    LOOK_UPS.filter((file) => !OF_COMMANDS.test(file)),
    [MARKED, GATED],
  ),
  madeIn(["src/cli/**"], [MARKED, PROOF, GATED, NAMED_KIND]),
  madeIn(
    LOOK_UPS.filter((file) => OF_COMMANDS.test(file)),
    [MARKED, GATED, NAMED_KIND],
  ),
  {
    files: [
      "src/contract/settings.ts",
      "src/contract/references.ts",
      "src/contract/proxy.ts",
      // Where the emulator has said that its computes are reached.
      "src/helpers/connectionUri.ts",
      "src/emulator/postgres/programs.ts",
      "src/cli/**",
      "scripts/**",
      "test/**",
      "bench/**",
      "examples/app/src/**",
      "examples/ci/scripts/**",
    ],
    rules: { "no-restricted-properties": "off" },
  },
);
