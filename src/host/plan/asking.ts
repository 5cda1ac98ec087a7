/** What a plan asks the service, and the memory of the run. */
import type { Properties } from "../../contract/hiddenKeys";
import { nameInUrn } from "../../contract/identifiers";
import type { Finding, Look, Replacing } from "../lifecycle";
import { NOTHING, type Verdict } from "../lookAhead";
import { Progress } from "../progress";
import { SecretValues } from "../references";
import type { Hosted } from "../session";

/** What the service shows that blocks a creation or an update (lookAhead.ts). */
export async function ask<Args extends object, Outputs extends object>(
  { resource, session, readSetting }: Hosted<Args, Outputs>,
  { urn, known, news }: { urn: string; known: Partial<Args>; news: Properties },
  question: (look: Look<Args>) => Promise<readonly Finding[] | undefined>,
): Promise<Verdict> {
  const projectId: unknown = Reflect.get(known, "projectId");
  if (typeof projectId !== "string") return NOTHING;
  const account = session.account(readSetting);
  const { client, settings } = account;
  client.learnSecrets(news);
  const values = new SecretValues(resource.args, (secret) => client.learnSecrets({ secret }));
  const progress = new Progress(session.log, urn, settings.quiet);
  const about = {
    args: { ...values.withValues(known), projectId },
    givenNames: new Set(Object.keys(news)),
    authProvider: settings.authProvider,
    client,
    planned: (object: string) => session.memory.plans.planned(object),
    isDeclared: (matches: (object: string) => boolean) => session.memory.claims.isDeclared(matches),
    leftBy: (object: string) => session.memory.plans.leftBy(object, urn),
  };
  const look = (asking: Pick<Look<Args>, "reading" | "isComplete">) => question({ ...about, ...asking });
  const asked = {
    kind: resource.kind,
    name: nameInUrn(urn),
    projectId,
    onProgress: (text: string) => progress.show(text),
  };
  try {
    return await session.lookAhead.ask({ ...account, ...asked, look });
  } finally {
    progress.end();
  }
}

/** What the run knows, for `mayDeleteFirst`. */
export const asking = <Args extends object, Outputs extends object>({
  session: { memory },
}: Hosted<Args, Outputs>): Pick<Replacing<Args, Outputs>, "isToBeReplaced" | "isDeclared"> => ({
  isToBeReplaced: (matches) => memory.plans.isToBeReplaced(matches),
  isDeclared: (matches) => memory.claims.isDeclared(matches),
});
