import type { Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { AuthOwnershipTransferOutputs, AuthOwnershipTransferShape } from "../resources/AuthOwnershipTransfer";
import { withoutAbsent } from "./absent";
import { childId, splitChildId } from "./childId";
import { authProviderSchema, projectIdSchema } from "./identifiers";
import { creatingAtHome, homeOf, homeStands } from "./integrationOf";
import { triggersSchema } from "./triggers";

type Shape = AuthOwnershipTransferShape;
type Outputs = AuthOwnershipTransferOutputs & Partial<Shape>;

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  authProvider: { schema: authProviderSchema, replaces: true },
  triggers: { schema: triggersSchema, replaces: true, assumed: [] },
};

/** The first step of a transfer of ownership (service.md 4.1): asking for the address of the second. */
export const authOwnershipTransfer: Lifecycle<Shape, Outputs> = {
  kind: "AuthOwnershipTransfer",
  version: 1,
  args,
  deleteBeforeReplace: false,

  async create(call, given) {
    const { projectId, authProvider = call.authProvider } = given;
    const { client, deadline, progress } = call;
    const home = await homeOf(call, projectId, authProvider);
    const { url } = await creatingAtHome(() =>
      client.transferOwnership(projectId, authProvider, { deadline, onProgress: progress }),
    );
    const id = childId(projectId, authProvider, url);
    call.note(
      `AuthOwnershipTransfer ${id}: nothing is handed over yet. Open the address in "url" (a secret: see pulumi stack output --show-secrets) in a browser and confirm the account that becomes the owner`,
    );
    return { id, outputs: { projectId, authProvider, url, ...home } };
  },

  async read(call, { id, outs }) {
    const { projectId, authProvider } = splitChildId(id);
    if (!(await homeStands(call, projectId, outs))) return undefined;
    return { args: { projectId, authProvider }, outputs: kept(id, outs), ready: true };
  },

  // Every argument replaces: there is nothing to send.
  update: async (_call, { id, outs }) => kept(id, outs),

  async delete({ note }, { id }) {
    note(
      `AuthOwnershipTransfer ${id} was only taken out of the stack: an address that was given out stays open, and a transfer that was confirmed is not taken back`,
    );
  },
};

/** The address cannot be read again; asking for it anew would be another transfer. */
function kept(id: string, { url = "", authProviderProjectId }: Partial<Outputs>): Outputs {
  return { ...splitChildId(id), url, ...withoutAbsent({ authProviderProjectId }) };
}
