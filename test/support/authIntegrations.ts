import { PROJECT, PROVIDER, type Harness, type Json } from "./harness";

export const INPUTS = { projectId: PROJECT, branchId: "br-main", databaseName: "svcdb", roleName: "svcdb_owner" };
export const ID = `${PROJECT}/${PROVIDER}`;

/** The integrations in the service's list. */
export const integrations = async (given: Harness) =>
  (await given.get(`/projects/${PROJECT}/auth/integrations`))["data"] as Json[];
