import fc from "fast-check";
import { format } from "prettier/standalone";
import * as estree from "prettier/plugins/estree";
import * as typescript from "prettier/plugins/typescript";
import { transpileModule } from "typescript";
import { Code, type DeclaredResource, Names, programText } from "../../../src/cli/import/programText";

const formatted = (text: string): Promise<string> =>
  format(text, { parser: "typescript", plugins: [estree, typescript] });

const declared = (more: Partial<DeclaredResource> = {}): DeclaredResource => ({
  kind: "ComputeEndpoint",
  name: "main",
  variable: "main",
  args: [["projectId", new Code("projectId")]],
  isProtected: false,
  ...more,
});

/** Text that a service may show: quotes, line ends and what would end a comment or a string, too. */
const text = fc.oneof(
  fc.string({ maxLength: 90 }),
  fc.string({
    unit: fc.constantFrom(
      "'",
      '"',
      "\\",
      "\n",
      "\u2028",
      "`",
      "${",
      "*/",
      "a",
      "-",
      "\u001b[31m",
      "\u009b",
      "\u202e",
      "\u{e0041}",
    ),
    maxLength: 90,
  }),
);
const longText = fc.oneof(text, fc.string({ minLength: 60, maxLength: 90, size: "max" }));

it("is what prettier would leave, whatever the service shows", async () => {
  const value = fc.oneof(
    longText,
    fc.integer(),
    fc.boolean(),
    fc.record({ min: fc.integer(), max: fc.integer() }),
    fc.record({
      pgSettings: fc.dictionary(fc.stringMatching(/^[a-z_]{3,40}(\.[a-z_]{1,40})?$/), text, { minKeys: 1 }),
      preloadLibraries: fc.record({ useDefaults: fc.boolean(), enabledLibraries: fc.array(text, { maxLength: 9 }) }),
    }),
  );
  const program = fc.record({
    projectId: longText,
    texts: fc.array(text, { maxLength: 6 }),
    value,
    comment: fc.option(text, { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(program, async ({ projectId, texts, value, comment }) => {
      const names = new Names([]);
      const resources = texts.map((one) => {
        const args = [
          ["projectId", new Code("projectId")],
          ["someArgument", value, ...(comment === undefined ? [] : [comment])],
        ] as unknown as DeclaredResource["args"];
        return declared({
          ...names.choose("compute", one),
          args,
          isProtected: one.length % 2 === 0,
          ...(comment !== undefined && { comment: [comment] }),
        });
      });
      const constants = [{ variable: "projectId", value: projectId, ...(comment !== undefined && { comment }) }];
      const source = programText(constants, resources, {
        readsConfiguration: texts.length > 2,
        isCommonJs: texts.length > 4,
        onlyOf: texts.length % 2 === 0 ? undefined : "dev",
      });
      expect(await formatted(source)).toBe(source);
      expect(source).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|[\u2028\u2029]/u);
    }),
    { numRuns: 300 },
  );
});

it.each(["abc", "abcd", "abcde"])("breaks the line of a long text as prettier does: behind %s", async (key) => {
  const resource = declared({ args: [["settings", { pgSettings: { [key]: "x".repeat(90) } }]] });
  const source = programText([], [resource], { readsConfiguration: false, isCommonJs: false });
  expect(await formatted(source)).toBe(source);
});

it("shows a program the very texts of the service", () => {
  fc.assert(
    fc.property(text, text, text, (projectId, name, comment) => {
      const resource = declared({ args: [["name", name, comment]], comment: [comment] });
      const { outputText } = transpileModule(
        programText([{ variable: "projectId", value: projectId, comment }], [resource], {
          readsConfiguration: true,
          isCommonJs: false,
        }),
        {},
      );
      const seen: unknown[] = [];
      class ComputeEndpoint {
        constructor(...given: unknown[]) {
          seen.push(...given);
        }
      }
      const modules: Record<string, object> = {
        "pulumi-svc": { ComputeEndpoint },
        "@pulumi/pulumi": { Config: class {} },
      };
      // The program itself, with these two in place of what it loads.
      new Function("require", "exports", `${outputText}; exports.projectId = projectId;`)(
        (id: string) => modules[id],
        {},
      );
      expect(seen).toEqual(["main", { name }]);
    }),
  );
});

it("declares nothing in another stack than the one that it is for", () => {
  const source = programText([{ variable: "projectId", value: "prj-a" }], [declared()], {
    readsConfiguration: false,
    isCommonJs: true,
    onlyOf: 'a"b',
  });
  const declaredIn = (stack: string): number => {
    let count = 0;
    const modules: Record<string, object> = {
      "pulumi-svc": {
        ComputeEndpoint: class {
          constructor() {
            count++;
          }
        },
      },
      "@pulumi/pulumi": { getStack: () => stack },
    };
    new Function("require", source)((id: string) => modules[id]);
    return count;
  };
  expect([declaredIn('a"b'), declaredIn("prod")]).toEqual([1, 0]);
});

it("gives every resource a name and a variable of its own, which a module may declare", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(text, fc.constantFrom("new", "default", "a-b", "aB", "a b", "1", "1-2")), { maxLength: 12 }),
      (texts) => {
        const names = new Names(["a-b"]);
        const chosen = texts.map((one) => names.choose("compute", one, "fallback"));
        for (const { name } of chosen) expect(name).toMatch(/^[a-z][a-z\d]*(-[a-z\d]+)*$/);
        const variables = chosen.map(({ variable }) => variable);
        expect(new Set([...variables, "aB", "svc", "pulumi", "config", "projectId"]).size).toBe(variables.length + 5);
        expect(
          () => new Function(`"use strict"; async () => { ${variables.map((one) => `const ${one} = 0;`).join("")} }`),
        ).not.toThrow();
      },
    ),
  );
});

it("takes the first text that makes a name, and the word where it is taken", () => {
  const names = new Names([]);
  const choose = (...texts: (string | undefined)[]) => names.choose("compute", ...texts).name;
  expect([
    choose(undefined, "", "été", "other"),
    choose("myAPI v2"),
    choose("日本", "br"),
    choose("my-api-v2"),
    choose("my-api-v2"),
    choose("127.0.0.1:80"),
    choose("import"),
    choose(),
  ]).toEqual([
    "ete",
    "my-api-v2",
    "br",
    "my-api-v2-compute",
    "my-api-v2-compute-2",
    "compute-127-0-0-1-80",
    "import-compute",
    "compute",
  ]);
});
