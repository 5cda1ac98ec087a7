import type { ProjectRecord } from "../model/records";
import { withoutSecrets } from "../http/requestLog";
import type { Store } from "../model/store";
import { operationView } from "../routes/views";

/** Everything about a project, secrets as hashes: what a test compares with. */
export function projectStateView(project: ProjectRecord): object {
  const { key_sets, operations, ...rest } = project;
  return {
    ...rest,
    endpoints: withoutSecrets(rest.endpoints),
    oauth_providers: withoutSecrets(rest.oauth_providers),
    email_server: withoutSecrets(rest.email_server),
    operations: operations.map(operationView),
    // Their secret half was hashed when it was issued.
    key_sets,
  };
}

export const stateView = (store: Store): object => ({ projects: store.projects.map(projectStateView) });
