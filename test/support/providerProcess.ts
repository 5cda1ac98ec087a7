import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";

export type Props = Record<string, JavaScriptValue>;

/** "Created, but not initialised": what the engine gets beside the error's message. */
export interface InitFailure {
  id: string;
  properties: Props;
  reasons: string[];
}

export class CallError extends Error {
  constructor(
    message: string,
    readonly failure: InitFailure | undefined,
  ) {
    super(message);
  }
}

const ROOT = join(__dirname, "..", "..");
const SCRIPT = join(ROOT, "node_modules", "@pulumi", "pulumi", "cmd", "dynamic-provider");
const started: ProviderProcess[] = [];
// The bench uses this without jest.
if (typeof afterAll === "function")
  afterAll(() => {
    for (const one of started.splice(0)) one.stop();
  });

/** The SDK's own dynamic-provider process in the folder of a program, talked to as the engine does it. */
export class ProviderProcess {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
    private readonly client: ResourceProviderClient,
  ) {}

  static async start(engineAddress: string, environment: Record<string, string> = {}): Promise<ProviderProcess> {
    const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-program-"));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const child = spawn(process.execPath, [SCRIPT, engineAddress], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const port = await new Promise<string>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the dynamic-provider process ended with ${code}`)));
      child.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim()));
    });
    const client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    const process_ = new ProviderProcess(folder, child, client);
    started.push(process_);
    return process_;
  }

  get pid(): number {
    return this.child.pid ?? Number.NaN;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async configure(args: Props): Promise<void> {
    const request = new provider.ConfigureRequest();
    request.setArgs(Struct.fromJavaScript(args));
    await call((done) => this.client.configure(request, done));
  }

  async check(olds: Props, news: Props): Promise<{ inputs: Props; failures: { property: string; reason: string }[] }> {
    const request = new provider.CheckRequest();
    request.setOlds(Struct.fromJavaScript(olds));
    request.setNews(Struct.fromJavaScript(news));
    const answer = await call<provider.CheckResponse>((done) => this.client.check(request, done));
    return { inputs: properties(answer.getInputs()), failures: answer.toObject().failuresList };
  }

  async diff(id: string, olds: Props, news: Props): Promise<{ changes: string; replaces: string[] }> {
    const request = new provider.DiffRequest();
    request.setId(id);
    request.setOlds(Struct.fromJavaScript(olds));
    request.setNews(Struct.fromJavaScript(news));
    const answer = await call<provider.DiffResponse>((done) => this.client.diff(request, done));
    const changes = ["DIFF_UNKNOWN", "DIFF_NONE", "DIFF_SOME"][answer.getChanges()] ?? "another";
    return { changes, replaces: answer.getReplacesList() };
  }

  async create(news: Props): Promise<{ id: string; outs: Props }> {
    const request = new provider.CreateRequest();
    request.setProperties(Struct.fromJavaScript(news));
    const answer = await call<provider.CreateResponse>((done) => this.client.create(request, done));
    return { id: answer.getId(), outs: properties(answer.getProperties()) };
  }

  async read(id: string, outs: Props): Promise<{ id: string; outs: Props; inputs: Props }> {
    const request = new provider.ReadRequest();
    request.setId(id);
    request.setProperties(Struct.fromJavaScript(outs));
    const answer = await call<provider.ReadResponse>((done) => this.client.read(request, done));
    return { id: answer.getId(), outs: properties(answer.getProperties()), inputs: properties(answer.getInputs()) };
  }

  async update(id: string, olds: Props, news: Props): Promise<Props> {
    const request = new provider.UpdateRequest();
    request.setId(id);
    request.setOlds(Struct.fromJavaScript(olds));
    request.setNews(Struct.fromJavaScript(news));
    return properties(
      (await call<provider.UpdateResponse>((done) => this.client.update(request, done))).getProperties(),
    );
  }

  async delete(id: string, outs: Props): Promise<void> {
    const request = new provider.DeleteRequest();
    request.setId(id);
    request.setProperties(Struct.fromJavaScript(outs));
    await call((done) => this.client.delete(request, done));
  }

  stop(): void {
    this.client.close();
    this.child.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function properties(struct: Struct | undefined): Props {
  return struct?.toJavaScript() ?? {};
}

function call<Response>(
  send: (done: (error: grpc.ServiceError | null, response: Response) => void) => void,
): Promise<Response> {
  return new Promise((resolve, reject) =>
    send((error, response) => {
      if (error === null) resolve(response);
      else reject(new CallError(error.details, initFailure(error)));
    }),
  );
}

/** The details that a partial error travels with (`grpcResponseFromError` of the SDK). */
function initFailure({ metadata }: grpc.ServiceError): InitFailure | undefined {
  const [bytes] = metadata.get("grpc-status-details-bin");
  if (bytes === undefined) return undefined;
  const [any] = Status.deserializeBinary(new Uint8Array(Buffer.from(bytes))).getDetailsList();
  // The generated method is static and uses no `this`.
  const read = (data: Uint8Array) => provider.ErrorResourceInitFailed.deserializeBinary(data);
  const detail = any?.unpack(read, "pulumirpc.ErrorResourceInitFailed") ?? undefined;
  return (
    detail && { id: detail.getId(), properties: properties(detail.getProperties()), reasons: detail.getReasonsList() }
  );
}
