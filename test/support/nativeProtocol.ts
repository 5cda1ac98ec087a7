import * as grpc from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import type { Properties } from "../../src/contract/hiddenKeys";
import { segmentsOf } from "../../src/contract/propertyPath";
import { NativeProvider } from "../../src/protocols/native/nativeProvider";
import { serve } from "../../src/protocols/native/server";
import type { LogLine } from "../../src/runtime/progress";
import { Session, type SessionOptions } from "../../src/runtime/session";
import type { EmulatorOptions } from "../../src/emulator";
import { start } from "./emulator";
import { unmarked } from "./engineMarks";
import { CANARY, QUICK, type State } from "./harness";
import { Service } from "./service";

// Properties are plain JSON, which is what a Struct takes.
const struct = (of: Properties): Struct => Struct.fromJavaScript(of as Record<string, JavaScriptValue>);
const plain = (of: Struct | undefined): Properties => of?.toJavaScript() ?? {};

export const COMPUTE = { projectId: "prj-demo", branchId: "br-dev", size: 1 };

const opened: (() => void)[] = [];
afterEach(() => opened.splice(0).forEach((close) => close()));

/** The native protocol behind its gRPC, and the calls that the engine makes for one resource. */
export class NativeProtocol {
  readonly log: LogLine[] = [];
  /** Each property, text and detail that has left it, with its marks. */
  readonly left: unknown[] = [];
  #client: ResourceProviderClient | undefined;

  private constructor(readonly service: Service) {}

  static async start(emulator: EmulatorOptions = {}): Promise<NativeProtocol> {
    const protocol = new NativeProtocol(new Service(await start({ apiKey: `${CANARY}-key`, ...emulator })));
    await protocol.restart();
    return protocol;
  }

  /** A new process of the plugin, with these settings besides the key and the address. */
  async restart(settings: Properties = {}, options: SessionOptions = {}): Promise<void> {
    const bind = jest.spyOn(grpc.Server.prototype, "bindAsync");
    const session = new Session((line) => this.log.push(line), { client: QUICK, siblingStartsMs: 200, ...options });
    const address = `127.0.0.1:${await serve(() => Promise.resolve(new NativeProvider(session, () => "{}")))}`;
    const [server] = bind.mock.contexts as grpc.Server[];
    bind.mockRestore();
    const client = new ResourceProviderClient(address, grpc.credentials.createInsecure());
    this.#client = client;
    opened.push(() => {
      client.close();
      server?.forceShutdown();
    });
    const { apiKey, baseUrl } = this.service.emulator;
    await this.configure({ apiKey, baseUrl, ...settings });
  }

  /** Any call. Rejects with a gRPC error. */
  call<Response>(name: keyof ResourceProviderClient, request: object): Promise<Response> {
    type Method = (request: object, done: (error: grpc.ServiceError | null, response: Response) => void) => unknown;
    // Each of them takes its request and a callback.
    const method = this.#client?.[name] as unknown as Method;
    return new Promise((resolve, reject) =>
      method.call(this.#client, request, (error, response) => (error === null ? resolve(response) : reject(error))),
    ).catch((error: grpc.ServiceError) => {
      this.left.push(error.details, keptBy(error));
      throw error;
    }) as Promise<Response>;
  }

  configure(args: Properties): Promise<unknown> {
    const request = new messages.ConfigureRequest();
    request.setArgs(struct(args));
    return this.call("configure", request);
  }

  async checkConfig(news: Properties): Promise<Properties> {
    const request = new messages.CheckRequest();
    request.setNews(struct(news));
    return this.#properties((await this.call<messages.CheckResponse>("checkConfig", request)).getInputs());
  }

  async check(kind: string, news: Properties, olds: Properties = {}) {
    const request = about(new messages.CheckRequest(), kind);
    request.setNews(struct(news));
    request.setOlds(struct(olds));
    const response = await this.call<messages.CheckResponse>("check", request);
    const failures = response.getFailuresList().map((failure) => failure.getProperty() + failure.getReason());
    this.left.push(failures);
    return { inputs: this.#properties(response.getInputs()), failures };
  }

  /** How each name differs: in the inputs, or only in the object. */
  async diff(kind: string, { id, outs }: State, [oldInputs, news]: [Properties, Properties], ignored: string[] = []) {
    const request = about(new messages.DiffRequest(), kind, id);
    request.setOlds(struct(outs));
    request.setOldInputs(struct(oldInputs));
    request.setNews(struct(news));
    request.setIgnorechangesList(ignored);
    const response = await this.call<messages.DiffResponse>("diff", request);
    const names: Record<string, string> = {};
    response.getDetaileddiffMap().forEach((one, name) => {
      names[name] = KINDS[one.getKind()] ?? "";
    });
    const differing = new Set(Object.keys(names).map((path) => String(segmentsOf(path)[0])));
    expect(response.getDiffsList().sort()).toEqual([...differing].sort());
    expect(response.getReplacesList()).toEqual(Object.keys(names).filter((name) => names[name]?.includes("REPLACE")));
    return response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_NONE ? "none" : names;
  }

  async create(kind: string, inputs: Properties, preview = false): Promise<State> {
    const request = about(new messages.CreateRequest(), kind);
    request.setProperties(struct(inputs));
    request.setPreview(preview);
    const response = await this.call<messages.CreateResponse>("create", request);
    return { id: response.getId(), outs: this.#properties(response.getProperties()) };
  }

  async read(kind: string, { id, outs }: State) {
    const request = about(new messages.ReadRequest(), kind, id);
    request.setProperties(struct(outs));
    // As in the state of a managed resource; empty for an import and a look-up.
    const managed = Object.entries(outs).filter(([name]) => (outs["__args"] as string[] | undefined)?.includes(name));
    request.setInputs(struct(Object.fromEntries(managed)));
    const response = await this.call<messages.ReadResponse>("read", request);
    const inputs = this.#properties(response.getInputs());
    return { id: response.getId(), outs: this.#properties(response.getProperties()), inputs };
  }

  async update(kind: string, { id, outs }: State, news: Properties, preview = false): Promise<State> {
    const request = about(new messages.UpdateRequest(), kind, id);
    request.setOlds(struct(outs));
    request.setNews(struct(news));
    request.setPreview(preview);
    const response = await this.call<messages.UpdateResponse>("update", request);
    return { id, outs: this.#properties(response.getProperties()) };
  }

  delete(kind: string, { id, outs }: State): Promise<unknown> {
    const request = about(new messages.DeleteRequest(), kind, id);
    request.setProperties(struct(outs));
    return this.call("delete", request);
  }

  async invoke(token: string, args: Properties): Promise<Properties> {
    const request = new messages.InvokeRequest();
    request.setTok(token);
    request.setArgs(struct(args));
    return this.#properties((await this.call<messages.InvokeResponse>("invoke", request)).getReturn());
  }

  cancel(): Promise<unknown> {
    return this.call("cancel", new Empty());
  }

  /** The ids of the computes of the tests, which the service has. */
  async computes(): Promise<string[]> {
    const all = (await this.service.endpoints()).filter(({ branch_id }) => branch_id === COMPUTE.branchId);
    return all.map(({ id }) => `${COMPUTE.projectId}/${String(id)}`);
  }

  /** As the state has them: in clear. */
  #properties(returned: Struct | undefined): Properties {
    this.left.push(plain(returned));
    return unmarked(plain(returned));
  }
}

const KINDS = ["ADD", "ADD_REPLACE", "DELETE", "DELETE_REPLACE", "UPDATE", "UPDATE_REPLACE"];

interface OfResource {
  setUrn: (urn: string) => void;
  setType: (type: string) => void;
  setId?: (id: string) => void;
}

function about<Request extends OfResource>(request: Request, kind: string, id?: string): Request {
  request.setUrn(`urn:pulumi:dev::proj::svc:index:${kind}::thing`);
  request.setType(`svc:index:${kind}`);
  if (id !== undefined) request.setId?.(id);
  return request;
}

/** What the engine stores of a failed call; undefined: nothing. */
function keptBy({ metadata }: grpc.ServiceError): State | undefined {
  const [details] = metadata.get("grpc-status-details-bin");
  if (details === undefined) return undefined;
  const [detail] = Status.deserializeBinary(Buffer.from(details)).getDetailsList();
  const failed = messages.ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() ?? new Uint8Array());
  return { id: failed.getId(), outs: plain(failed.getProperties()) };
}

/** The text of a call that fails, and what it leaves in the state. */
export async function failed(work: Promise<unknown>): Promise<{ text: string; kept: State | undefined }> {
  const error = await work.then(
    (value) => {
      throw new Error(`it did not fail: ${JSON.stringify(value)}`);
    },
    (thrown: unknown) => thrown as grpc.ServiceError,
  );
  const kept = keptBy(error);
  return { text: error.details, kept: kept && { id: kept.id, outs: unmarked(kept.outs) } };
}
