import * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../src/program/inputs";
import * as svc from "../../src";

interface Shape {
  id: string;
  on?: boolean;
  mode?: "a" | "b";
  size?: number | { min: number; max: number };
  list?: string[];
  any?: unknown[];
}

/** Compiling is the test (the type check covers this folder): each is an argument as a program may write it. */
const GOOD: Record<string, ArgumentsOf<Shape>> = {
  plain: { id: "x", on: true, mode: "a", size: 1, list: ["x"], any: [1, "x"] },
  "left out": { id: "x", on: undefined },
  "an Output of a boolean": { id: "x", on: pulumi.output(true as boolean) },
  "a promise of one of several texts": { id: "x", mode: Promise.resolve("a" as "a" | "b") },
  "an Output of one of several shapes": { id: "x", size: pulumi.output(1 as number | { min: number; max: number }) },
  "Outputs inside": { id: "x", size: { min: pulumi.output(1), max: 2 }, list: [pulumi.output("x"), "y"] },
  "an Output of a list": { id: pulumi.output("x"), list: pulumi.output(["x"]) },
};

test.each(Object.entries(GOOD))("an argument may be given as %s", (_how, args) => {
  expect(args.id).toBeDefined();
});

test("a value of another type is refused by the compiler", () => {
  // @ts-expect-error: a text is no boolean
  const wrong: ArgumentsOf<Shape> = { id: "x", on: "true" };
  // @ts-expect-error: half of an object
  const half: ArgumentsOf<Shape> = { id: "x", size: { min: 1 } };
  expect([wrong, half]).toHaveLength(2);
});

const text = pulumi.output("x");
const SMTP = { host: text, port: 587, username: "u", password: text, senderEmail: "a@b.example", senderName: "n" };

test("OAuth credentials compile as a pair and without both, never as a half", () => {
  const base = { projectId: "x", providerId: "google" };
  const good: svc.OAuthProviderArgs[] = [
    base,
    { ...base, clientId: "a", clientSecret: text },
    { ...base, clientId: undefined, clientSecret: undefined, adopt: true },
  ];
  // @ts-expect-error: no client secret
  const noSecret: svc.OAuthProviderArgs = { ...base, clientId: "a" };
  // @ts-expect-error: no client id
  const noId: svc.OAuthProviderArgs = { ...base, clientSecret: text };
  // @ts-expect-error: no client secret
  const undefinedSecret: svc.OAuthProviderArgs = { ...base, clientId: text, clientSecret: undefined };
  const auth: svc.ProjectAuthArgs[] = [
    { projectId: "x", oauth: { google: "shared", github: {}, gitlab: { clientId: text, clientSecret: "b" } } },
    // @ts-expect-error: no client secret
    { projectId: "x", oauth: { google: { clientId: "a" } } },
    // @ts-expect-error: no client id
    { projectId: "x", oauth: { google: { clientSecret: text, adopt: true } } },
  ];
  expect([...good, noSecret, noId, undefinedSecret, ...auth]).toHaveLength(9);
});

test("a mail server compiles whole, or as the shared one with nothing of its own", () => {
  const good: svc.EmailServerArgs[] = [
    { projectId: "x", type: "shared" },
    { projectId: "x", type: "standard", ...SMTP },
  ];
  // @ts-expect-error: the shared server has no host
  const plain: svc.EmailServerArgs = { projectId: "x", type: "shared", host: "smtp.example.com" };
  // @ts-expect-error: nor one that is an Output
  const output: svc.EmailServerArgs = { projectId: "x", type: "shared", host: text };
  // @ts-expect-error: half a server
  const half: svc.EmailServerArgs = { projectId: "x", type: "standard", host: text };
  const auth: svc.ProjectAuthArgs[] = [
    { projectId: "x", email: { type: "shared" } },
    { projectId: "x", email: { type: "standard", ...SMTP } },
    // @ts-expect-error: the shared server has no host
    { projectId: "x", email: { type: "shared", host: text } },
    // @ts-expect-error: half a server
    { projectId: "x", email: { type: "standard", host: text } },
  ];
  expect([...good, plain, output, half, ...auth]).toHaveLength(9);
});

test("a compute's size compiles as what the service lists, and as any number that a program works out", () => {
  const fromConfiguration = Number("4") as number;
  const size = (given: svc.ComputeEndpointArgs["size"]): unknown => given;
  const good = [
    size(0.25),
    size(56),
    size({ min: 0.5, max: 16 }),
    size(fromConfiguration),
    size({ min: fromConfiguration, max: fromConfiguration }),
    size(pulumi.output(fromConfiguration)),
    size(pulumi.output({ min: fromConfiguration, max: fromConfiguration })),
    size(Promise.resolve(fromConfiguration)),
    size({ min: pulumi.output(fromConfiguration), max: 4 }),
    size(undefined),
    svc.computeSizes.map((cu) => size(cu)).length,
  ];
  // @ts-expect-error: half of a pair
  const half = size({ min: 1 });
  // @ts-expect-error: the other half
  const other = size({ max: pulumi.output(1) });
  // @ts-expect-error: a text is no number
  const words = size("4");
  expect([...good, half, other, words]).toHaveLength(14);
  expect(svc.ramGb(fromConfiguration)).toBe(16);
});

test("a replica of a group names the compute that it adopts; wrappers take the arguments of a compute apart", () => {
  const group = { projectId: "p", branchId: "b", primary: { adopt: true } };
  const good: svc.ComputeGroupArgs[] = [
    { ...group, replicas: [{ adopt: "ep-1" }, { adopt: false }, { adopt: text }, { adopt: undefined, key: "x" }] },
    // @ts-expect-error: a branch can have several
    { ...group, replicas: [{ adopt: true }] },
  ];
  interface Wrapped extends Omit<svc.ComputeEndpointArgs, "projectId"> {
    color: string;
  }
  const wrap = ({ color: _color, ...args }: Wrapped): svc.ComputeEndpointArgs => ({ ...args, projectId: "p" });
  expect([...good, wrap({ branchId: "b", type: "read_only", adopt: true, color: "blue" })]).toHaveLength(3);
});

test("an OAuth provider may have any name", () => {
  const name = String("okta");
  const good: svc.OAuthProviderArgs[] = [
    { projectId: "p", providerId: "google" },
    { projectId: "p", providerId: "a-new-one" },
    { projectId: "p", providerId: name },
    { projectId: "p", providerId: text },
  ];
  const auth: svc.ProjectAuthArgs[] = [
    { projectId: "p", oauth: { google: "shared", "a-new-one": {}, [name]: {} } },
    { projectId: "p", oauth: { [name]: "shared" } },
  ];
  const named: Record<string, svc.ProjectAuthProvider> = { google: "shared" };
  auth.push({ projectId: "p", oauth: named });
  expect([...good, ...auth]).toHaveLength(7);
});
