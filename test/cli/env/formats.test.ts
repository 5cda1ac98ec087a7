import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Format, render, type Written } from "../../../src/cli/env/formats";
import { terminalText } from "../../../src/cli/output";
import { anyCharacter } from "../../support/characters";
import { RUNNER_PARTS, runnerCommandsIn } from "../../support/runners";

const variable = (name: string, value: string): Written => ({
  urn: "urn:pulumi:dev::proj::type::api",
  output: "host",
  name,
  value,
  isMapped: false,
  isSecret: false,
  isUri: false,
  isOptional: false,
});
const rendered = (value: string, format: Format): string =>
  render([variable("A", value), variable("B", "last")], format);

/** Values as programs get them: anything, and often what a reader interprets differently. */
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(..."ab #'\"`$\\\n\r\t={}!%&;*?[]~()<>|^-\u0000\u001b\u2028\u202e\ufeff") }),
  fc.string({ unit: fc.constantFrom(...RUNNER_PARTS, "'", "\n", " ", "a") }),
);
/** Undefined where the format refuses it. */
const written = (value: string, format: Format): string | undefined => {
  try {
    return rendered(value, format);
  } catch {
    return undefined;
  }
};

/** For titles: in a report, too, nothing is to obey such a character. */
const named = (...values: string[]): [string, string][] => values.map((value) => [terminalText(value), value]);

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "env-formats-"))));
afterAll(() => rmSync(folder, { recursive: true }));

describe("shell", () => {
  /** The environment of a command that the shell starts after it has read the text. */
  const readBy = (shell: string, text: string): Record<string, string> => {
    writeFileSync(join(folder, "env.sh"), text);
    const options = { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"] } } as const;
    const { stdout } = spawnSync(shell, ["-c", ". ./env.sh && env -0"], options);
    const entries = stdout.split("\0").map((entry) => entry.split(/=([^]*)/));
    return Object.fromEntries(
      entries.flatMap(([name = "", value = ""]) => (/^V\d+$/.test(name) ? [[name, value]] : [])),
    );
  };

  test.each(["sh", "bash"])("values reach %s, and the commands that it starts, as they are", (shell) => {
    const texts = fc.array(
      anyText.filter((value) => written(value, "shell") !== undefined),
      { minLength: 50, maxLength: 50 },
    );
    fc.assert(
      fc.property(texts, (values) => {
        const variables = values.map((value, at) => variable(`V${at}`, value));
        const wanted = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
        const text = render(variables, "shell");
        expect(readBy(shell, text)).toEqual(wanted);
        expect(runnerCommandsIn(text)).toEqual([]);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  test("a command of a CI runner is not one in the output, and reaches the shell unchanged", () => {
    expect(rendered("https://a.test/##vso[task.setvariable variable=x]y", "shell")).toBe(
      "export A='https://a.test/#''#vso[task.setvariable variable=x]y'\nexport B='last'\n",
    );
  });

  test("the form is one that people know", () => {
    expect(rendered("it's $HOME", "shell")).toBe("export A='it'\\''s $HOME'\nexport B='last'\n");
  });

  test.each(named("\u0000", "\r", "\u001b[31m", "\u202e", "\ud800"))(
    "a value with %s is refused, and not repeated",
    (_name, odd) => {
      expect(() => rendered(`canary${odd}`, "shell")).toThrow(
        new Error("api.host cannot be written as shell: it contains a control character. Use --format json"),
      );
    },
  );
});

describe("dotenv", () => {
  /** The lines as the package dotenv (16 and 17) reads them: its pattern, its trimming, its quotes. */
  const LINE =
    /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;
  const dotenv = (text: string): Record<string, string> =>
    Object.fromEntries(
      [...text.replace(/\r\n?/gm, "\n").matchAll(LINE)].map(([, key = "", raw = ""]) => {
        const trimmed = raw.trim();
        const bare = trimmed.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
        return [key, trimmed.startsWith('"') ? bare.replace(/\\n/g, "\n").replace(/\\r/g, "\r") : bare];
      }),
    );
  /** Like `docker run --env-file`: everything after the first equals sign, including quotes. */
  const docker = (text: string): Record<string, string> =>
    Object.fromEntries(
      text.split("\n").flatMap((line) => {
        const left = line.trimStart();
        return left === "" || left.startsWith("#")
          ? []
          : [[left.slice(0, left.indexOf("=")), left.slice(left.indexOf("=") + 1)]];
      }),
    );
  /** As Compose puts variables in, and as dotenv-expand does. */
  const expanded = (values: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replace(/\$\{?\w*\}?/g, "")]));

  test("every reader takes a value that is written as it is", () => {
    let tried = 0;
    fc.assert(
      fc.property(fc.oneof(anyText, fc.webUrl({ withQueryParameters: true }), fc.base64String()), (value) => {
        const text = written(value, "dotenv");
        fc.pre(text !== undefined);
        tried += 1;
        const wanted = { A: value, B: "last" };
        expect([dotenv(text ?? ""), docker(text ?? ""), expanded(dotenv(text ?? ""))]).toEqual([
          wanted,
          wanted,
          wanted,
        ]);
      }),
      { numRuns: 2_000 },
    );
    expect(tried).toBeGreaterThan(500);
  });

  test("a connection string needs no quotes", () => {
    const uri = "postgresql://app:p%40ss%23%27@ep-1-pooler.example.com:5432/my%20db?sslmode=require";
    expect(rendered(uri, "dotenv")).toBe(`A=${uri}\nB=last\n`);
  });

  test.each(["sh", "bash"])("a file that %s reads runs nothing of a value", (shell) => {
    for (const odd of [";", "&", "|", "<", ">", "(", ")", "&&"]) {
      for (const value of [`a${odd}touch`, `a${odd}touch${odd}canary`, `${odd}touch`]) {
        const text = written(value, "dotenv");
        writeFileSync(join(folder, "sourced.env"), text ?? "");
        const { stdout } = spawnSync(shell, ["-c", '. ./sourced.env; printf %s "$A"'], {
          cwd: folder,
          encoding: "utf8",
        });
        expect([value, stdout]).toEqual([value, text === undefined ? "" : value]);
      }
    }
  });

  test.each(
    named(
      "a b",
      " a",
      "a#b",
      "it's",
      'a"b',
      "a`b",
      "$HOME",
      "a\\nb",
      "a\nB=evil",
      "a\r",
      "\u2028",
      "\ufeffa",
      "\ud800",
      "a;b",
      "a&b",
      "a|b",
      "a<b",
      "a>b",
      "(a)",
    ),
  )("a value such as %s is refused, and not repeated", (_name, value) => {
    const words =
      "it contains a blank, a quote, a backslash or one of # $ ; & | < > ( ), which readers of such files interpret differently";
    expect(() => rendered(value, "dotenv")).toThrow(
      new Error(`api.host cannot be written as dotenv: ${words}. Use --format json`),
    );
  });
});

describe("json", () => {
  test("any value comes back as it is, and none reaches a terminal", () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const text = rendered(value, "json");
        expect(JSON.parse(text)).toEqual({ A: value, B: "last" });
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  test("a name that objects have already is a name like others", () => {
    const text = render([variable("__proto__", "a"), variable("constructor", "b")], "json");
    expect(text).toBe('{\n  "__proto__": "a",\n  "constructor": "b"\n}\n');
  });
});
