import type { Reply, Script, Seen } from "./scriptedServer";

interface Compute {
  id: string;
  branch_id: string;
  type: string;
  name?: string;
  current_state: string;
  pending_state?: string;
  [field: string]: unknown;
}

interface Operation {
  id: string;
  endpoint_id: string;
  action: string;
  status: string;
  error?: string;
}

export interface FakeOptions {
  /** 423 while an operation runs. */
  locks?: boolean;
  operationMs?: number;
  /** Has the operations route. */
  operationsRoute?: boolean;
  /** The final status of operations. */
  endsAs?: string;
}

/**
 * A project with computes whose operations take time, as a script of scriptedServer.ts: just enough of the service to
 * observe queue and waits from outside, at exact times. The emulator shares no clock with the client.
 */
export class FakeProject {
  readonly computes: Compute[] = [];
  readonly operations: Operation[] = [];
  /** Statuses in order of the responses. */
  readonly statuses: { line: string; status: number }[] = [];
  /** The largest number of concurrent operations. */
  mostRunning = 0;
  lockedByStranger = false;
  #next = 1;

  constructor(readonly options: FakeOptions = {}) {}

  get running(): Operation[] {
    return this.operations.filter(({ status }) => status === "running");
  }

  start(compute: Compute, action: string, then: () => void): Operation {
    const operation: Operation = { id: `op-${this.#next++}`, endpoint_id: compute.id, action, status: "running" };
    this.operations.unshift(operation);
    this.mostRunning = Math.max(this.mostRunning, this.running.length);
    setTimeout(() => {
      operation.status = this.options.endsAs ?? "finished";
      if (operation.status === "failed") operation.error = "no capacity left";
      else then();
    }, this.options.operationMs ?? 60);
    return { ...operation };
  }

  script: Script = (request) => {
    const reply = this.#reply(request);
    this.statuses.push({ line: request.line, status: reply.status ?? 200 });
    return reply;
  };

  count(method: string, status: number): number {
    return this.statuses.filter((answer) => answer.line.startsWith(`${method} `) && answer.status === status).length;
  }

  #reply({ method, path, body }: Seen): Reply {
    const [, , , collection, id, verb] = path.split(/[/?]/);
    if (collection === "operations") {
      if (this.options.operationsRoute === false)
        return { status: 404, json: { code: "not_found", message: "no such route" } };
      return { json: { operations: this.operations } };
    }
    if (method === "GET") return { json: { endpoints: this.computes } };
    if (this.lockedByStranger || (this.options.locks === true && this.running.length > 0)) {
      return { status: 423, json: { code: "locked", message: "project already has running operations" } };
    }
    const compute = this.computes.find((item) => item.id === id);
    if (method === "POST" && id === undefined) return this.#create(body);
    if (compute === undefined) return { status: 404, json: { code: "not_found", message: "endpoint not found" } };
    if (method === "DELETE") {
      compute.pending_state = "idle";
      const gone = (): void => void this.computes.splice(this.computes.indexOf(compute), 1);
      const operations = [this.start(compute, "suspend_compute", gone)];
      return { json: { endpoint: compute, operations } };
    }
    if (method === "PATCH") Object.assign(compute, (body as { endpoint: object }).endpoint);
    compute.pending_state = "active";
    const operations = [this.start(compute, verb ?? "apply_config", () => this.#settle(compute))];
    return { json: { endpoint: { ...compute }, operations } };
  }

  #settle(compute: Compute): void {
    compute.current_state = "active";
    delete compute.pending_state;
  }

  #create(body: unknown): Reply {
    const id = `ep-${this.#next++}`;
    // Only the tests send bodies here.
    const { endpoint } = body as { endpoint: { branch_id: string; type: string } };
    const compute: Compute = { id, host: `${id}.db.test`, ...endpoint, current_state: "init", pending_state: "active" };
    this.computes.push(compute);
    const operations = [this.start(compute, "start_compute", () => this.#settle(compute))];
    return { status: 201, json: { endpoint: { ...compute }, operations } };
  }
}
