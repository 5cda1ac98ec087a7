import type { List } from "./exchanges";
import type { Sections } from "./findings";
import type { Made } from "./objects";
import type { Step } from "./run";

/** The two parts of a run; `--part` chooses one. */
export const PARTS = ["compute", "auth"] as const;
export type Part = (typeof PARTS)[number];

/** What the suite knows of one kind. Each kind has a file of its name in `kinds`, which exports it as `live`. */
export interface LiveKind {
  readonly part: Part;
  /** The request that deletes one by hand, for a person. */
  readonly byHand: (object: ByHand) => string;
  /** They run in this order, with the lifecycle of the kind; what a lifecycle does not send is a probe. */
  readonly steps: readonly Step[];
  /** After the steps of all kinds. */
  readonly lastSteps?: readonly Step[];
  /** The step that must have succeeded before the others, unless these say what they need. */
  readonly needs: string;
  readonly lists?: readonly List[];
  /** What docs/design/api.md says of it. */
  readonly statements: Sections;
}

interface ByHand extends Pick<Made, "args"> {
  readonly projectId: string;
  /** What follows the project in its id. */
  readonly rest: string;
  readonly authProvider: string;
}
