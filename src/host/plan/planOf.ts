import { containsUnknown, type Properties } from "../../contract/hiddenKeys";
import { labelOf } from "../../contract/identifiers";
import type { Comparison } from "../arguments";
import type { Plan, Stored } from "../lifecycle";

/** What a lifecycle is told of a comparison. */
export function planOf<Args, Outputs>(about: {
  urn: string | undefined;
  stored: Stored<Args, Outputs>;
  news: Properties;
  changes: Comparison<Args>;
  deletesFirst: boolean;
}): Plan<Args, Outputs> {
  const { urn, stored, news, changes, deletesFirst } = about;
  const known = Object.entries(news).filter(([, value]) => !containsUnknown(value));
  return {
    stored,
    label: labelOf(urn),
    // The program's arguments have passed `check`.
    news: Object.fromEntries(known) as Partial<Args>,
    changes,
    replaces: changes.replaces,
    deletesFirst,
  };
}
