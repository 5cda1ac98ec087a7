import { OwnIntegration } from "../../src/client/api/ownIntegration";
import type { AuthIntegrationRecord, Collection } from "../../src/client";

/** An integration that always exists, for tests of the request alone. */
class Standing extends OwnIntegration {
  override async prove(): Promise<void> {
    return Promise.resolve();
  }
}

// It never looks, so it needs no list.
const NO_LIST = {} as Collection<AuthIntegrationRecord>;
export const PROVEN = { integration: new Standing(NO_LIST, () => true, "x") };
