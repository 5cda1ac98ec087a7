import fc from "fast-check";
import { Messages, Traffic } from "../../../src/emulator/postgres/traffic";

function message(type: string, body: string | Buffer = ""): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(Buffer.byteLength(body) + 4, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** The same bytes in chunks that end at these places. */
function chunks(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].toSorted((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe("messages in a stream of bytes", () => {
  const letter = fc.constantFrom(..."QSXBdZGE");
  const body = fc.oneof(
    fc.constant(Buffer.alloc(0)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  );

  test("are found whatever the chunks are that carry them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(letter, body), { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (sent, cuts) => {
          const found: [string, number][] = [];
          const messages = new Messages((type, first) => found.push([String.fromCharCode(type), first]));
          const bytes = Buffer.concat(sent.map(([type, content]) => message(type, content)));
          for (const chunk of chunks(bytes, cuts)) messages.read(chunk);
          expect(found).toEqual(sent.map(([type, content]) => [type, content[0] ?? 0]));
          expect(messages.isBetween).toBe(true);
        },
      ),
    );
  });

  test("are known to be incomplete at every place but their ends", () => {
    const bytes = Buffer.concat([message("D", "row"), message("Z", "I"), message("H")]);
    const ends = new Set([0, 8, 14, 19]);
    for (let end = 0; end <= bytes.length; end += 1) {
      const messages = new Messages(() => undefined);
      messages.read(bytes.subarray(0, end));
      expect([end, messages.isBetween]).toEqual([end, ends.has(end)]);
    }
  });

  test("nothing is looked for behind a length that no message has", () => {
    const found: number[] = [];
    const messages = new Messages((type) => found.push(type));
    messages.read(Buffer.concat([message("Q", "1"), Buffer.from("Q\0\0\0\x03"), message("Q", "2")]));
    expect(found).toHaveLength(1);
    expect(messages.isBetween).toBe(false);
  });

  test("whatever the bytes are, reading them ends", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (parts) => {
        const traffic = new Traffic();
        for (const part of parts) {
          traffic.fromClient(Buffer.from(part));
          traffic.fromServer(Buffer.from(part));
        }
        expect([true, false]).toContain(traffic.isBusy);
      }),
    );
  });
});

describe("what a session is doing", () => {
  const ready = (status = "I"): Buffer => message("Z", status);
  let traffic: Traffic;
  beforeEach(() => {
    traffic = new Traffic();
  });
  const client = (...messages: readonly Buffer[]): void => traffic.fromClient(Buffer.concat(messages));
  const server = (...messages: readonly Buffer[]): void => traffic.fromServer(Buffer.concat(messages));

  test("nothing, from the start", () => {
    expect(traffic.isBusy).toBe(false);
  });

  test("a query, until the server is ready again", () => {
    client(message("Q", "select 1\0"));
    expect(traffic.isBusy).toBe(true);
    server(message("D", "1"), message("C", "SELECT 1\0"));
    expect(traffic.isBusy).toBe(true);
    server(ready());
    expect(traffic.isBusy).toBe(false);
  });

  test("queries that were sent together, until the last of them is done", () => {
    client(message("Q", "1\0"), message("Q", "2\0"), message("F", "3"));
    server(ready(), ready());
    expect(traffic.isBusy).toBe(true);
    server(ready());
    expect(traffic.isBusy).toBe(false);
  });

  test("a batch, also before its Sync", () => {
    client(message("P", "\0select 1\0"), message("B"), message("E"), message("H"));
    expect(traffic.isBusy).toBe(true);
    client(message("S"));
    server(message("1"), message("2"), ready());
    expect(traffic.isBusy).toBe(false);
  });

  test.each(["T", "E"])("a transaction (%s), until it ends", (status) => {
    client(message("Q", "begin\0"));
    server(ready(status));
    expect(traffic.isBusy).toBe(true);
    client(message("Q", "rollback\0"));
    server(ready());
    expect(traffic.isBusy).toBe(false);
  });

  test("a COPY, whose data ends with one ReadyForQuery", () => {
    client(message("Q", "copy t from stdin\0"));
    server(message("G", "\0"));
    client(message("d", "1\n"), message("S"), message("H"), message("c"));
    expect(traffic.isBusy).toBe(true);
    server(message("C", "COPY 1\0"), ready());
    expect(traffic.isBusy).toBe(false);
  });

  test("a COPY in a batch, as libpq sends it: the first Sync is ignored by the server", () => {
    client(message("P"), message("B"), message("E"), message("S"));
    server(message("G", "\0"));
    client(message("d", "1\n"), message("c"), message("S"));
    expect(traffic.isBusy).toBe(true);
    server(message("C", "COPY 1\0"), ready());
    expect(traffic.isBusy).toBe(false);
  });

  test("a COPY that the server gives up is over with its ReadyForQuery", () => {
    client(message("Q", "copy t from stdin\0"));
    server(message("G", "\0"));
    client(message("d", "x"));
    server(message("E", "SERROR\0\0"), ready());
    expect(traffic.isBusy).toBe(false);
  });

  test("a client can be told something between messages, and not behind the last words of the server", () => {
    server(message("D", "row"));
    expect(traffic.canBeTold).toBe(true);
    server(message("D", "row").subarray(0, 6));
    expect(traffic.canBeTold).toBe(false);
    server(message("D", "row").subarray(6), message("E", "SFATAL\0\0"));
    expect(traffic.canBeTold).toBe(false);
    server(ready());
    expect(traffic.canBeTold).toBe(true);
  });
});
