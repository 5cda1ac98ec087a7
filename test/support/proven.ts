import { OwnIntegration } from "../../src/client/api/ownIntegration";
import { type AuthIntegrationRecord, type Collection, Gone, Granted } from "../../src/client";

/** For a lifecycle of a test whose object is gone, or is deleted. */
export const GONE = Gone.proven("the test says so");

export const grant = (): Granted => Granted.proven();

const RECORD: AuthIntegrationRecord = { auth_provider: "a", auth_provider_project_id: "x", branch_id: "b" };

/** An integration that always exists, for tests of the request alone. */
class Standing extends OwnIntegration {
  override readonly isMeant = async (): Promise<Granted> => grant();

  override async prove(): Promise<void> {
    return Promise.resolve();
  }

  override async find(): Promise<AuthIntegrationRecord> {
    return RECORD;
  }
}

// It never looks, so it needs no list.
const NO_LIST = {} as Collection<AuthIntegrationRecord>;

/** What a change, or a deletion, is sent with: everything grants it. */
export const PROVEN = {
  integration: new Standing(NO_LIST, () => true, "x"),
  isMeant: grant,
  mayGo: grant,
};

/** These origins may be deleted from a whitelist. */
export const mayGo = (origins: readonly string[]): ReadonlyMap<string, Granted> =>
  new Map(origins.map((origin) => [origin, grant()]));
