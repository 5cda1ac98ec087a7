/** A compute that a preview may have left behind. */
import { type BranchRecord, type EndpointRecord, Gone, Granted, Refused, Unknown } from "../../client";
import { isSameName } from "../../contract/forms";
import { type Asked, ChangedError, GoneError, type Leftover, type Surroundings } from "../shared/tools";

export const leftoverCompute =
  (record: EndpointRecord, { client, projectId }: Asked) =>
  ({ branches }: Surroundings): Leftover => {
    const { id, branch_id, name, created_at } = record;
    const branch = branches?.find((one) => isSameName(one.id, branch_id));
    return {
      // Where branches are not listed, it may be its branch that is meant.
      names: branches && [name, branch?.name].flatMap((one) => one ?? []),
      stays: whyItStays(record, branch, branches ?? []),
      usedAs: [
        { text: id },
        // Whoever makes a branch gets its compute with it, or uses it without naming it.
        ...(branch === undefined ? [] : [{ text: branch.id, how: `names its branch ${branch.id}` }]),
      ],
      branchTexts: [name, branch?.name, branch?.id],
      branch: branch?.name,
      createdAt: created_at,
      facts: [created_at, branch?.id, branch?.name],
      async isSame(reading) {
        const now = await client.computes.find(projectId, id, reading);
        if (now instanceof Unknown) return now;
        if (now instanceof Gone) return Refused.proven(new GoneError());
        const differing = (["created_at", "branch_id", "name", "type"] as const).filter(
          (field) => now[field] !== record[field],
        );
        if (differing.length === 0) return Granted.proven();
        return Refused.proven(new ChangedError(`it has changed since it was listed: ${differing.join(", ")}`));
      },
      async delete(destruction) {
        await client.computes.delete({ projectId, endpointId: id }, destruction);
      },
    };
  };

function whyItStays(
  { branch_id }: EndpointRecord,
  branch: BranchRecord | undefined,
  branches: readonly BranchRecord[],
): string | undefined {
  // What is on the default branch was never a preview, whatever its name.
  if (branch?.default === true) return "it is on the default branch";
  if (!branches.some((one) => one.default === true)) return "it is not known which branch is the default one";
  return branch === undefined ? `its branch ${branch_id} is not listed` : undefined;
}
