import { output } from "@pulumi/pulumi";
import { connectionUri } from "../../src/helpers/connectionUri";
import { localDiskGib, localFileCacheGb, ramGb } from "../../src/helpers/computeSizes";
import { maxConnections } from "../../src/helpers/maxConnections";

const CANARY = "canary-helper";
const ANYTHING = [undefined, null, CANARY, true, [CANARY], {}, { min: 1 }, output(2), Promise.resolve(2)];

test.each([ramGb, localFileCacheGb, localDiskGib, maxConnections])(
  "%p refuses with a message what is no size",
  (helper) => {
    const untyped = helper as (size: unknown) => unknown; // JavaScript may give it anything
    for (const size of ANYTHING) {
      expect(() => untyped(size)).toThrow(
        /^a size must be a number of compute units \(CU\), or \{min, max\}, (not |and is missing)/,
      );
    }
  },
);

const OPTIONS = { host: "ep-1.example.test", database: "app", role: "web" };
const untyped = connectionUri as (options?: unknown) => string; // as above

test("a connection URI refuses an Output, which would stand in it as [Output<T>], and names the form that takes it", () => {
  for (const name of ["host", "database", "role", "password", "pooled", "port", "sslMode"]) {
    expect(() => untyped({ ...OPTIONS, [name]: output(CANARY) })).toThrow(
      new RegExp(`^connectionUri: ${name}: is an Output: pass the options to connectionUriOutput$`),
    );
  }
  expect(() => untyped(output(OPTIONS))).toThrow(/connectionUriOutput/);
});

test.each([
  [undefined, "the arguments are missing"],
  [null, "the arguments must be an object, not null"],
  [[CANARY], "the arguments must be an object, not a list"],
  [{}, "host: is required; database: is required; role: is required"],
  [{ ...OPTIONS, pasword: CANARY }, 'pasword: unknown property. Did you mean "password"?'],
  [
    { ...OPTIONS, password: null, port: 70_000 },
    "password: must be a string, not null; port: must be a whole number from 1 to 65535",
  ],
  [{ ...OPTIONS, sslMode: CANARY }, 'sslMode: must be "disable", "require" or "verify-full"'],
  [
    { ...OPTIONS, pooled: "no", role: "\uD800" },
    "role: must be a string that is not empty; pooled: must be true or false, not a string. The configuration holds strings: read it with config.requireBoolean. Inside an object, remove it with `pulumi config rm --path` and set it with `pulumi config set --path --type bool`",
  ],
])("a connection URI of %j is refused with all that is wrong", (options, words) => {
  expect(() => untyped(options)).toThrow(new TypeError(`connectionUri: ${words}`));
});
