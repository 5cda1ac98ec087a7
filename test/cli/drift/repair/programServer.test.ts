import { connect } from "node:net";
import { serveProgram } from "../../../../src/cli/drift/repair/programServer";

const tried = (host: string, port: number): Promise<"connected" | "refused"> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve("connected");
    });
    socket.on("error", () => resolve("refused"));
  });

test("the program of a repair is served on the loopback interface alone, and no longer than the repair lasts", async () => {
  const none = new Set<string>();
  const server = await serveProgram({ all: new Map(), declared: none, targets: none }, () => Promise.resolve());
  try {
    expect(server.address).toBe(`127.0.0.1:${server.port}`);
    // Another address of this machine, which everything that listens on all of them has.
    const reached = await Promise.all(["127.0.0.1", "127.0.0.2"].map((host) => tried(host, server.port)));
    expect(reached).toEqual(["connected", "refused"]);
  } finally {
    server.close();
  }
  expect(await tried("127.0.0.1", server.port)).toBe("refused");
});
