/** A proxy and a service with TLS, for tests of what leads to the service. */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { authorityCertificate, serverCertificate } from "../../src/emulator/postgres/certificates";

async function listening(server: Pick<Server, "listen" | "address">): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is an object.
  return (server.address() as AddressInfo).port;
}

export interface Tunnel {
  /** Host and port, as the client names them. */
  readonly target: string;
  readonly login: string | undefined;
}

/** A port of this machine, or the status that the proxy answers with. */
type Outcome = number | { readonly status: number };

/**
 * A proxy that connects to a port, whatever host is asked for, or refuses: the nth time as the nth outcome says, and from
 * then on as the last. `forwarded`: the addresses of requests that are no tunnel.
 */
export async function startProxy(...outcomes: readonly [Outcome, ...Outcome[]]) {
  const tunnels: Tunnel[] = [];
  const forwarded: string[] = [];
  const server = createServer((request, response) => {
    forwarded.push(request.url ?? "");
    response.writeHead(200).end();
  });
  server.on("connect", (request, socket) => {
    const login = request.headers["proxy-authorization"];
    tunnels.push({ target: request.url ?? "", login: login && Buffer.from(login.slice(6), "base64").toString() });
    socket.on("error", () => undefined);
    const to = outcomes[tunnels.length - 1] ?? outcomes.at(-1) ?? 0;
    if (typeof to !== "number") {
      socket.end(`HTTP/1.1 ${to.status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const there = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      there.pipe(socket).pipe(there);
    });
    there.on("error", () => socket.destroy());
  });
  const port = await listening(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, tunnels, forwarded, close };
}

/** A service with TLS under these names, and the certificate (PEM) of the authority that vouches for it. */
export async function startSecure(names: readonly string[], answer: RequestListener) {
  const [key, ownKey] = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
  if (key === undefined || ownKey === undefined) throw new Error("no keys");
  const until = new Date(Date.now() + 86_400_000);
  const authority = { name: "authority of the test", key };
  const own = { name: "service of the test", key: ownKey };
  const server = createTlsServer(
    {
      key: ownKey.export({ type: "pkcs8", format: "pem" }),
      cert: serverCertificate(own, names, authority, until).toString(),
    },
    answer,
  );
  const port = await listening(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, ca: authorityCertificate(authority, until).toString(), close };
}

const NAMES = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]);

/** Runs a test with these variables of a proxy alone. */
export async function withProxies<T>(variables: Record<string, string>, run: () => Promise<T> | T): Promise<T> {
  const before = NAMES.map((name) => [name, process.env[name]] as const);
  for (const name of NAMES) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    return await run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
