import { containsUnknown, type Properties } from "../../contract/hiddenKeys";
import { labelOf } from "../../contract/identifiers";
import type { Comparison } from "../arguments";
import type { Plan, Stored } from "../lifecycle";
import { excludeEachOther } from "../replacement";
import type { DiffRequest } from "../requests";
import type { Hosted } from "../session";
import { compareWith, storedFrom } from "../state";
import { authProviderOf } from "./checkNews";

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

/** Of two states: only the program knows the values of references, and the options of a resource. */
export function planOfStates<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, id, outs, news }: Pick<DiffRequest, "urn" | "id" | "outs" | "news">,
): Plan<Args, Outputs> {
  const { resource } = hosted;
  const stored = storedFrom(resource, id, outs);
  const deletesFirst = excludeEachOther(resource, stored, news, authProviderOf(hosted));
  return planOf({ urn, stored, news, changes: compareWith(resource, stored, news), deletesFirst });
}
