import type { List } from "./exchanges";
import type { Sections } from "./findings";
import type { Made } from "./objects";
import type { Step } from "./run";

/** What the suite knows of one kind. Each kind has a file of its name in `kinds`, which exports it as `live`. */
export interface LiveKind {
  /** The request that deletes one by hand, for a person. Undefined: it is deleted with its container. */
  readonly byHand?: (object: ByHand) => string;
  /** They run in this order, with the lifecycle of the kind; what a lifecycle does not send is a probe. */
  readonly steps: readonly Step[];
  /** After the steps of all kinds. */
  readonly lastSteps?: readonly Step[];
  /**
   * The step that its other steps and those of what lives in it need, unless they say what they need. Undefined: that
   * of its container.
   */
  readonly needs?: string;
  readonly lists?: readonly List[];
  /** What docs/design/api.md says of it. */
  readonly statements?: Sections;
}

interface ByHand extends Pick<Made, "args"> {
  readonly projectId: string;
  /** What follows the project in its id. */
  readonly rest: string;
  readonly authProvider: string;
}
