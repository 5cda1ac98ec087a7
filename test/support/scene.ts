import type { Reply, Script } from "./scriptedServer";

export const PRJ = "prj-1";
export const ENDPOINTS = "/projects/prj-1/endpoints";
export const OPERATIONS = `GET /projects/${PRJ}/operations?limit=100`;
export const LIST = `GET ${ENDPOINTS}`;

/** The service's own response, with its error body. */
export const gone = (status: 404 | 410 = 404): Reply => ({ status, json: { code: "not_found", message: "not there" } });

export const compute = (fields: object = {}): object => ({
  id: "ep-1",
  host: "ep-1.db.test",
  branch_id: "br-1",
  type: "read_write",
  current_state: "active",
  ...fields,
});
export const operation = (status: string, fields: object = {}): object => ({
  id: "op-9",
  endpoint_id: "ep-1",
  action: "start_compute",
  status,
  ...fields,
});

export interface Scene {
  /** The list of computes at the nth request; undefined fields as above. */
  computes: (nth: number) => object[];
  /** The list of operations at the nth request; omitted: no such route. */
  operations?: (nth: number) => object[];
  change?: Reply;
  /** The change creates the compute: earlier lists do not contain it and do not count. */
  creates?: boolean;
}

export const scene = ({ computes, operations, change = { status: 200 }, creates = false }: Scene): Script => {
  let changed = !creates;
  let listsBefore = 0;
  return ({ method, path }, nth) => {
    if (method !== "GET") {
      changed = true;
      return change;
    }
    if (path === ENDPOINTS) {
      if (!changed) listsBefore = nth;
      return { json: { endpoints: changed ? computes(nth - listsBefore) : [] } };
    }
    return operations === undefined ? gone() : { json: { operations: operations(nth) } };
  };
};

export const init = { current_state: "init", pending_state: "active" };
