import { z } from "zod";
import { withoutSecrets } from "../http/requestLog";
import type { Service } from "../model/service";
import { operationView } from "../routes/projectRoutes";

const named = { project_id: z.string(), id: z.string() };

export const computeActionBody = z.discriminatedUnion("action", [
  z.strictObject({ ...named, action: z.enum(["start", "suspend", "restart"]) }),
  z.strictObject({ ...named, action: z.literal("move"), branch_id: z.string() }),
]);

/** Does with a compute what a person does in the service's console: with its operations, locks and refusals. */
export function actOnCompute(
  { computes, store }: Service,
  { project_id, id, ...rest }: z.output<typeof computeActionBody>,
): object {
  const project = store.project(project_id);
  const { endpoint, operations } =
    rest.action === "move"
      ? computes.update(project, id, { branch_id: rest.branch_id })
      : computes[rest.action](project, id);
  store.changed();
  return { endpoint: withoutSecrets(endpoint), operations: operations.map(operationView) };
}
