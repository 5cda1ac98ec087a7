/** A branch of a project. */
export interface BranchResult {
  /** The branch's id (`br-…`). */
  branchId: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** Whether it is the one that an auth integration belongs to (docs/design/api.md, Auth integration). */
  default: boolean;
  /** Such as `ready`; the service may know more. */
  currentState?: string | undefined;
  /** When it was made. ISO 8601, UTC. */
  createdAt?: string | undefined;
}
