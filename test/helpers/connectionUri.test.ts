import fc from "fast-check";
import { connectionUri, pooledHost } from "../../src/helpers/connectionUri";

const HOST = "ep-cool-sun-1.eu-1.example.test";
const BASIC = { host: HOST, database: "app", role: "web" };

test("a plain one has the standard port and asks for encryption", () => {
  expect(connectionUri(BASIC)).toBe(`postgresql://web@${HOST}:5432/app?sslmode=require`);
});

test("the password, the port and the mode of encryption can be given", () => {
  const uri = connectionUri({ ...BASIC, password: "pw", port: 6543, sslMode: "verify-full" });
  expect(uri).toBe(`postgresql://web:pw@${HOST}:6543/app?sslmode=verify-full`);
});

test("a pooled one names the pooler's host, also when it is given that host already", () => {
  const pooled = `postgresql://web@ep-cool-sun-1-pooler.eu-1.example.test:5432/app?sslmode=require`;
  expect(connectionUri({ ...BASIC, pooled: true })).toBe(pooled);
  expect(connectionUri({ ...BASIC, host: pooledHost(HOST), pooled: true })).toBe(pooled);
});

test("the pooler's host is that of the compute with -pooler behind the compute's id", () => {
  expect(pooledHost(HOST)).toBe("ep-cool-sun-1-pooler.eu-1.example.test");
  expect(pooledHost("ep-1")).toBe("ep-1-pooler");
});

test("every character that means something in a URI is escaped", () => {
  const uri = connectionUri({ ...BASIC, role: "a:b@c", password: "p/w?#%&!'()* ", database: "d/b?x=1#y" });
  expect(uri).toBe(
    `postgresql://a%3Ab%40c:p%2Fw%3F%23%25%26%21%27%28%29%2A%20@${HOST}:5432/d%2Fb%3Fx%3D1%23y?sslmode=require`,
  );
});

test("whatever the names and the password are, a reader of URLs finds the same again", () => {
  // Whole characters: half a surrogate pair cannot be written in a URI at all.
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
  // A reader of URLs takes a path of dots for a step, however it is written.
  const databases = text.filter((name) => name !== "." && name !== "..");
  const host = fc.tuple(fc.stringMatching(/^ep-[a-z0-9-]{0,20}[a-z0-9]$/), fc.domain()).map((parts) => parts.join("."));
  fc.assert(
    fc.property(
      text,
      text,
      databases,
      host,
      fc.integer({ min: 1, max: 65_535 }),
      (role, password, database, name, port) => {
        const url = new URL(connectionUri({ host: name, role, password, database, port }));
        expect(decodeURIComponent(url.username)).toBe(role);
        expect(decodeURIComponent(url.password)).toBe(password);
        expect(decodeURIComponent(url.pathname.slice(1))).toBe(database);
        expect([url.protocol, url.hostname, url.port, url.search]).toEqual([
          "postgresql:",
          name,
          String(port),
          "?sslmode=require",
        ]);
      },
    ),
  );
});

const GATE = "127.0.0.1:5433";

describe("at the gate of an emulator", () => {
  afterEach(() => {
    delete process.env["SVC_POSTGRES_GATE"];
    delete process.env["SVC_POSTGRES_CA"];
  });

  test("the compute is named in the options, without TLS", () => {
    expect(connectionUri({ ...BASIC, password: "p&w", gate: GATE })).toBe(
      "postgresql://web:p%26w@127.0.0.1:5433/app?sslmode=disable&options=endpoint%3Dep-cool-sun-1",
    );
  });

  test("TLS can be chosen, and is verified with the emulator's authority", () => {
    process.env["SVC_POSTGRES_CA"] = "kept/a folder/ca.pem";
    const begin = "postgresql://web@127.0.0.1:5433/app?sslmode";
    const endpoint = "options=endpoint%3Dep-cool-sun-1";
    expect(connectionUri({ ...BASIC, gate: GATE, sslMode: "require" })).toBe(`${begin}=require&${endpoint}`);
    const verified = `${begin}=verify-full&${endpoint}`;
    expect(connectionUri({ ...BASIC, gate: GATE, sslMode: "verify-full" })).toBe(
      `${verified}&sslrootcert=kept%2Fa%20folder%2Fca.pem`,
    );
    expect(connectionUri({ ...BASIC, sslMode: "verify-full" })).not.toContain("sslrootcert");
    delete process.env["SVC_POSTGRES_CA"];
    expect(connectionUri({ ...BASIC, gate: GATE, sslMode: "verify-full" })).toBe(verified);
  });

  test("a pooled host stays pooled", () => {
    const uri = "postgresql://web@[::1]:5433/app?sslmode=disable&options=endpoint%3Dep-cool-sun-1-pooler";
    expect(connectionUri({ ...BASIC, pooled: true, gate: "[::1]:5433" })).toBe(uri);
    expect(connectionUri({ ...BASIC, host: pooledHost(HOST), gate: "[::1]:5433" })).toBe(uri);
  });

  test("the variable of the emulator says where it is, unless the program does", () => {
    process.env["SVC_POSTGRES_GATE"] = GATE;
    expect(connectionUri({ ...BASIC, port: 6543 })).toContain("@127.0.0.1:5433/app?sslmode=disable&");
    expect(connectionUri({ ...BASIC, gate: "db:1" })).toContain("@db:1/app?");
    process.env["SVC_POSTGRES_GATE"] = "";
    expect(connectionUri(BASIC)).toContain("?sslmode=require");
    process.env["SVC_POSTGRES_GATE"] = "nowhere";
    expect(() => connectionUri(BASIC)).toThrow("the variable SVC_POSTGRES_GATE must be HOST:PORT");
  });

  test("a port beside it is refused", () => {
    expect(() => connectionUri({ ...BASIC, gate: GATE, port: 5432 })).toThrow(
      "port: cannot be given with gate, which has a port",
    );
    expect(() => connectionUri({ ...BASIC, gate: "127.0.0.1" })).toThrow("gate: must be HOST:PORT");
  });
});
