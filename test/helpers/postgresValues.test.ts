import fc from "fast-check";
import { settingValueForm } from "../../src/helpers/postgresValues";

const sameSetting = (name: string, left: string, right: string): boolean =>
  settingValueForm(name, left) === settingValueForm(name, right);

describe("two values of a setting are the same", () => {
  test.each([
    ["shared_buffers", "128MB", "131072kB"],
    ["shared_buffers", "128MB", "16384"],
    ["SHARED_BUFFERS", "16384", "131072kB"],
    ["work_mem", "64MB", "65536"],
    ["work_mem", "64 MB", "65536kB"],
    ["work_mem", "0.5GB", "512MB"],
    ["max_wal_size", "1GB", "1024"],
    ["wal_decode_buffer_size", "512kB", "524288"],
    ["temp_file_limit", "1TB", "1024GB"],
    ["statement_timeout", "1min", "60s"],
    ["statement_timeout", "60s", "60000"],
    ["checkpoint_timeout", "5min", "300"],
    ["log_rotation_age", "1d", "1440"],
    ["log_rotation_age", "24h", "1d"],
    ["commit_delay", "1ms", "1000us"],
    ["random_page_cost", "1.10", "1.1"],
    ["random_page_cost", "4", "4.0"],
    ["max_connections", " 100", "100"],
    ["enable_seqscan", "on", "true"],
    ["enable_seqscan", "YES", "1"],
    ["enable_seqscan", "t", "on"],
    ["enable_seqscan", "of", "0"],
    ["enable_seqscan", "no", "FALSE"],
    ["statement_timeout", "0", "0ms"],
    // Of a setting that is not known, the form alone.
    ["some_new_memory", "1MB", "1024kB"],
    ["app.flag", "on", "on"],
  ])("%s: %s and %s", (name, left, right) => {
    expect([sameSetting(name, left, right), sameSetting(name, right, left)]).toEqual([true, true]);
  });
});

describe("two values of a setting are different", () => {
  test.each([
    ["shared_buffers", "128MB", "128kB"],
    ["shared_buffers", "128MB", "131072"],
    ["work_mem", "64MB", "64"],
    ["work_mem", "1MB", "1min"],
    ["statement_timeout", "1s", "1"],
    // Postgres distinguishes the case of units.
    ["work_mem", "1MB", "1mb"],
    ["enable_seqscan", "on", "off"],
    // "o" begins both words.
    ["enable_seqscan", "o", "on"],
    ["enable_seqscan", "", "off"],
    ["search_path", "a", "b"],
    ["some_new_memory", "1MB", "1024"],
    // An application reads these as texts.
    ["app.flag", "on", "true"],
    ["app.version", "1", "1.0"],
    ["app.limit", "1MB", "1024kB"],
  ])("%s: %s and %s", (name, left, right) => {
    expect([sameSetting(name, left, right), sameSetting(name, right, left)]).toEqual([false, false]);
  });
});

test("each form is one of its own spellings, so comparing twice changes nothing", () => {
  const names = fc.constantFrom("work_mem", "shared_buffers", "statement_timeout", "enable_seqscan", "app.x", "other");
  const units = fc.constantFrom("", "B", "kB", "MB", "us", "ms", "s", "min", " kB");
  const amounts = fc.tuple(fc.integer({ min: -5, max: 5000 }), units).map(([number, unit]) => `${number}${unit}`);
  const values = fc.oneof(amounts, fc.constantFrom("on", "off", "yes", "no", "t", "f", "1", "0"), fc.string());
  fc.assert(
    fc.property(names, values, (name, value) => {
      const form = settingValueForm(name, value);
      expect(settingValueForm(name, form)).toBe(form);
    }),
  );
});
