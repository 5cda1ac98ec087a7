import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as typescript from "typescript";
import { notInGit } from "../../../../src/cli/drift/accept/git";
import { ProjectFiles, typeScriptOf } from "../../../../src/cli/drift/accept/projectFiles";
import { shownText } from "../../../../src/cli/drift/accept/shownText";
import { writeFiles } from "../../../../src/cli/drift/writeFiles";

let folder: string;
beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), "accept-files-")))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const read = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("git", () => {
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
  };

  test("a committed file can be brought back; a modified, staged, new or ignored one cannot", async () => {
    git("init");
    const committed = write("src/index.ts", "one");
    const staged = write("staged.ts", "one");
    write(".gitignore", "ignored.ts\nwritten/");
    // Git reads such a name as a pattern unless a flag prevents it.
    const odd = write(":(glob)*.ts", "one");
    git("add", ".");
    git("commit", "-m", "first");
    expect(await notInGit(committed)).toBeUndefined();
    expect(await notInGit(odd)).toBeUndefined();

    writeFileSync(committed, "two");
    expect(await notInGit(committed)).toBe("has changes that are not committed");
    expect(await notInGit(odd)).toBeUndefined();
    writeFileSync(staged, "two");
    git("add", "staged.ts");
    expect(await notInGit(staged)).toBe("has changes that are not committed");
    expect(await notInGit(write("new.ts", "one"))).toBe("is not added to git");
    expect(await notInGit(write("new/index.ts", "one"))).toBe("is not added to git");
    expect(await notInGit(write("ignored.ts", "one"))).toBe("is ignored by git");
    expect(await notInGit(write("written/index.ts", "one"))).toBe("is ignored by git");
  });

  test.each(["--skip-worktree", "--assume-unchanged"])("a file whose changes do not count cannot: %s", async (mark) => {
    git("init");
    const [marked, other] = [write("src/index.ts", "one"), write("src/other.ts", "one")];
    git("add", ".");
    git("commit", "-m", "first");
    git("update-index", mark, "src/index.ts");
    writeFileSync(marked, "two");
    expect(await notInGit(marked)).toBe(
      "is marked in git so that its changes are ignored (assume-unchanged or skip-worktree)",
    );
    expect(await notInGit(other)).toBeUndefined();
  });

  test("the repository is that of the file, whatever a hook of another one tells by the environment", async () => {
    git("init");
    const committed = write("src/index.ts", "one");
    git("add", ".");
    git("commit", "-m", "first");
    process.env["GIT_DIR"] = ".git";
    try {
      expect(await notInGit(committed)).toBeUndefined();
    } finally {
      delete process.env["GIT_DIR"];
    }
    writeFileSync(join(folder, ".git/config"), "[broken");
    expect(await notInGit(committed)).toMatch(/^could not be looked up in git: fatal: bad config/);
  });

  test("outside a repository nothing can be brought back", async () => {
    expect(await notInGit(write("index.ts", "one"))).toBe("is not in a git repository");
  });
});

describe("what is written", () => {
  const rewrite = (name: string, after: string) => ({ name, path: join(folder, name), before: read(name), after });

  test("takes the place of the files, with their modes, and leaves nothing beside them", () => {
    write("a.ts", "a");
    write("lib/b.ts", "b");
    chmodSync(join(folder, "a.ts"), 0o754);
    writeFiles([rewrite("a.ts", "new a"), rewrite("lib/b.ts", "new b")]);
    expect([read("a.ts"), read("lib/b.ts")]).toEqual(["new a", "new b"]);
    expect(statSync(join(folder, "a.ts")).mode & 0o777).toBe(0o754);
    expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(["a.ts", "lib", "lib/b.ts"]);
  });

  test("is all of the files or none: one that changed meanwhile, or that is gone, stops it", () => {
    write("a.ts", "a");
    write("b.ts", "b");
    const files = [rewrite("a.ts", "new a"), { ...rewrite("b.ts", "new b"), before: "older" }];
    expect(() => writeFiles(files)).toThrow("b.ts could not be written: it changed while the command ran");
    const gone = [rewrite("a.ts", "new a"), { ...rewrite("b.ts", "new b"), path: join(folder, "gone.ts") }];
    expect(() => writeFiles(gone)).toThrow("b.ts could not be written: ENOENT. No file was changed");
    expect([read("a.ts"), read("b.ts"), readdirSync(folder).length]).toEqual(["a", "b", 2]);
  });

  test("is taken back where a later file cannot take its place", () => {
    write("a.ts", "a");
    // The draft of a folder can be written beside it, but cannot replace it.
    write("b.ts/index.ts", "b");
    chmodSync(join(folder, "a.ts"), 0o600);
    let reads = 0;
    const sly = {
      name: "b.ts",
      before: "b",
      after: "new b",
      // A file when it is looked at, a folder when it is replaced.
      get path() {
        return join(folder, reads++ < 2 ? "b.ts/index.ts" : "b.ts");
      },
    };
    expect(() => writeFiles([rewrite("a.ts", "new a"), sly])).toThrow(/b\.ts could not be written/);
    expect([read("a.ts"), read("b.ts/index.ts")]).toEqual(["a", "b"]);
    expect(statSync(join(folder, "a.ts")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(["a.ts", "b.ts", "b.ts/index.ts"]);
  });
});

describe("the files of a program", () => {
  const files = (program = "."): ProjectFiles => new ProjectFiles(folder, join(folder, program), typescript);

  test("are searched in its folder, and not in what is installed, written, hidden or linked", () => {
    const text = "new svc.Whitelist(";
    for (const name of ["index.ts", "a.mts", "b.cts", "c.js", "d.mjs", "e.cjs", "lib/f.ts", "g.tsx", "h.jsx"])
      write(name, text);
    for (const name of ["types.d.ts", "types.d.mts", "a.json", "README.md"]) write(name, text);
    for (const place of ["node_modules/x", "dist", "lib/build", "out", "coverage", ".cache", "written"])
      write(`${place}/index.ts`, text);
    write("without.ts", "new svc.WhitelistDomain(");
    write("tsconfig.json", '{ "compilerOptions": { "outDir": "./written" } } // a comment');
    const elsewhere = mkdtempSync(join(tmpdir(), "accept-elsewhere-"));
    try {
      writeFileSync(join(elsewhere, "index.ts"), text);
      symlinkSync(elsewhere, join(folder, "linked"));
      symlinkSync(join(elsewhere, "index.ts"), join(folder, "linked.ts"));
      const found = files().having(["Whitelist("]);
      expect([...found.keys()].toSorted()).toEqual([
        "a.mts",
        "b.cts",
        "c.js",
        "d.mjs",
        "e.cjs",
        "g.tsx",
        "h.jsx",
        "index.ts",
        "lib/f.ts",
      ]);
      expect(new Set(found.values())).toEqual(new Set([text]));
      expect([...files("lib").having(["Whitelist("]).keys()]).toEqual(["lib/f.ts"]);
      expect([...files().having(["OAuthProvider"]).keys()]).toEqual([]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  test("a test and the program of another project below are not searched", () => {
    const text = "new svc.Whitelist(";
    for (const name of ["index.test.ts", "index.spec.mjs", "__tests__/a.ts"]) write(name, text);
    for (const name of ["other/Pulumi.yaml", "other/index.ts", "other/lib/a.ts", "third/Pulumi.yml", "third/a.ts"])
      write(name, text);
    write("lib/index.ts", text);
    expect([...files().having(["Whitelist("]).keys()]).toEqual(["lib/index.ts"]);
  });

  test("the source of a program that runs compiled is searched in the whole project", () => {
    for (const name of ["src/index.ts", "dist/index.js", "bin/index.js"]) write(name, "new svc.Whitelist(");
    write("tsconfig.json", '{ "compilerOptions": { "outDir": "bin" } }');
    for (const program of ["dist", "bin", "gone"])
      expect([...files(program).having(["Whitelist("]).keys()]).toEqual(["src/index.ts"]);
  });

  test("a place counts where the file stands here and is source; outside the project it is refused", () => {
    const index = write("app/index.ts", "");
    const written = write("app/written/index.js", "");
    const dist = write("app/dist/index.js", "");
    const outside = write("shared/one.ts", "");
    write("app/tsconfig.json", '{ "extends": "./base.json" }');
    write("app/base.json", '{ "compilerOptions": { "outDir": "written" } }');
    symlinkSync(index, join(folder, "app/link.ts"));
    symlinkSync(outside, join(folder, "app/out.ts"));
    symlinkSync(join(folder, "app"), join(folder, "linked"));
    const app = new ProjectFiles(join(folder, "linked"), join(folder, "linked"), typescript);
    expect([app.named(index), app.named(join(folder, "app/link.ts"))]).toEqual(["index.ts", "index.ts"]);
    expect([written, dist, join(folder, "app/gone.ts")].map((path) => app.named(path))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    for (const path of [outside, join(folder, "app/out.ts")])
      expect(() => app.named(path)).toThrow(/^\.\.\/shared\/one\.ts is outside the folder of the project/);
    expect(lstatSync(app.absolute("index.ts")).isFile()).toBe(true);
  });

  test("are UTF-8: another encoding is refused, since what is not edited would change, too", () => {
    write("index.ts", Buffer.from([0x22, 0xe4, 0x22]));
    write("marked.ts", "\u{feff}// Grüße\r\n");
    expect(() => files().read("index.ts")).toThrow("index.ts is not a UTF-8 file");
    expect(files().read("marked.ts")).toBe("\u{feff}// Grüße\r\n");
  });

  test("are parsed with the TypeScript of the program: a missing one, or one without an API, is named", () => {
    expect(() => typeScriptOf(folder)).toThrow(
      /^TypeScript is missing, and the program is parsed with it\. Run npm install --save-dev typescript@5/,
    );
    write("new/node_modules/typescript/index.js", 'exports.version = "7.0.2";');
    expect(() => typeScriptOf(join(folder, "new"))).toThrow("TypeScript 7.0.2 has no API to parse a file");
    write("old/node_modules/typescript/index.js", 'module.exports = { version: "5.0.0", createProgram() {} };');
    expect(typeScriptOf(join(folder, "old")).version).toBe("5.0.0");
  });
});

test("a shown text has no literal that the program gives as a secret, and all else", () => {
  const text = `
const smtpPassword = "canary-1";
new svc.EmailServer("mail", { host: "h", password: "canary-2", port: 25, senderName: "n" }); // password
new svc.OAuthProvider("o", { clientId: "id", clientSecret: pulumi.secret(\`canary-3
second line\`) });
const settings = { pgSettings: { "app.token": "canary-4", work_mem: "64MB" } };
const given = secret("canary-5"), other = f(env.PASSWORD ?? "canary-6"), apiKey = one ? "canary-7" : config.get("key");
`;
  const shown = shownText(typescript, "index.ts", text);
  expect(shown).not.toContain("canary");
  expect(shown.split("\n")).toHaveLength(text.split("\n").length);
  expect(shown).toContain('{ host: "h", password: "[secret]", port: 25, senderName: "n" }); // password\n');
  expect(shown).toContain('work_mem: "64MB"');
});

test("a shown text has no literal that is a secret by its form, by the name of a setting or by what it is assigned to", () => {
  const text = `
const url = "postgres://u:canary-1@h/db";
const settings = { pgSettings: { "app.cookie_key": "canary-2", "app.db": \`postgres://u:canary-3@\${host}/db\` } };
args.password = "canary-4"; settings["app.pw"] = "canary-5"; args.clientSecret ??= "canary-6";
const named = process.env["SMTP_PASSWORD"] || "canary-7", chosen = env.API_KEY! ?? "canary-8";
const sortKey = "by name", site = "https://h/?page=1"; args.name = "api"; const port = env.PORT ?? "25";
`;
  const shown = shownText(typescript, "index.ts", text);
  expect(shown).not.toContain("canary");
  expect(shown.match(/\[secret\]/g)).toHaveLength(8);
  expect(shown.split("\n").at(-2)).toBe(text.split("\n").at(-2));
});

test("what is a secret by its form, or the name of a setting of Postgres, is hidden as well, also in a comment", () => {
  const text = `
const settings = { pgSettings: { "app.pw": "canary-1", "app.signing_key": 'canary-2', "app.db": "postgres://u:canary-3@h/db", port: 5432, ["app.cookie_key"]: "canary-4" } };
const uri = \`postgres://u:canary-5@\${host}/db\`; // postgres://u:canary-6@h/db
/* before: password = "canary-7"
   and more */
const keys = { passwords: ["canary-8", { any: "canary-9" }] }; args.clientSecret = "canary-10";
function make(password = "canary-11", { token = "canary-12" }) {
  return [\`a \${secret("canary-13")}\`, // Authorization: Bearer; token=canary-14
  ];
}
const pem = "-----BEGIN PRIVATE KEY-----\\ncanary-15";
`;
  const shown = shownText(typescript, "index.ts", text);
  expect(shown.match(/canary-\d+/g)).toBeNull();
  expect(shown.split("\n")).toHaveLength(text.split("\n").length);
  for (const kept of [
    '"app.pw": "[secret]"',
    '"app.signing_key": "[secret]"',
    "port: 5432",
    "/* [secret] */\n",
    "any: ",
  ])
    expect(shown).toContain(kept);
});

test("the names of secrets stay: of settings, of the configuration, of variables and files", () => {
  const text = `
const password = config.requireSecret("smtpPassword"), token = svc.fromEnv("APP_TOKEN"), key = process.env["API_KEY"];
const credentials = { "smtp.password": svc.fromFile("secrets/smtp"), "x-y": config.get("apiKey") ?? process.env.KEY };
pulumi.secret({ "app.token": one, 'a-b': 1 < 2 }); // The password of the mail server
`;
  expect(shownText(typescript, "index.ts", text)).toBe(text.replace("1 < 2", '"[secret]" < "[secret]"'));
});

test.each([
  'const smtp = { password: config["requireSecret"]("smtpPassword") };\n',
  'const smtpPassword = new pulumi.Config("smtp").require("password");\n',
  'const password = pulumi.interpolate`${config.requireSecret("smtpPassword")}`;\n',
  'const smtp = { password: env("SMTP_PASSWORD") };\n',
])("the name of a setting or of a variable is not a secret: %s", (text) => {
  expect(shownText(typescript, "index.ts", text)).toBe(text);
});
