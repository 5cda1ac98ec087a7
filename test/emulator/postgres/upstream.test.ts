import { Upstream } from "../../../src/emulator/postgres/upstream";

test("where this process may open no more files, that is reported, and not that Postgres should be looked at", async () => {
  const upstream = await Upstream.at("postgres://postgres:of-nobody@127.0.0.1:5432/postgres", false);
  const tooMany = Object.assign(new Error("connect EMFILE 127.0.0.1:5432"), { code: "EMFILE", syscall: "connect" });
  expect(upstream.inWords(tooMany).message).toBe(
    "Postgres at 127.0.0.1:5432 does not answer (EMFILE): let the emulator open more files (ulimit -n): each connection takes two",
  );
});
