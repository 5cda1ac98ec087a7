import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority } from "../../../src/emulator/postgres/authority";

const DAY_MS = 24 * 60 * 60_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-authority-"));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test("an authority is kept, and replaced a month before its end", () => {
  const first = new Authority(folder, "127.0.0.1").certificate;
  expect(readFileSync(join(folder, "ca.pem"), "utf8")).toBe(first);
  const now = Date.now();
  jest.spyOn(Date, "now").mockReturnValue(now + 334 * DAY_MS);
  expect(new Authority(folder, "127.0.0.1").certificate).toBe(first);
  jest.spyOn(Date, "now").mockReturnValue(now + 336 * DAY_MS);
  const next = new Authority(folder, "127.0.0.1");
  expect(next.certificate).not.toBe(first);
  expect(readFileSync(next.file, "utf8")).toBe(next.certificate);
  const { ca, validFrom, validTo } = new X509Certificate(next.certificate);
  expect([ca, new Date(validTo).getTime() - new Date(validFrom).getTime()]).toEqual([true, 366 * DAY_MS]);
});
