import {
  type CreationRecovery,
  type ChangeOptions,
  type Client,
  type EndpointAttributes,
  type EndpointRecord,
  normalisedOrigin,
} from "../../src/client";

/** How a creation is told from others, as a lifecycle does it: every field that was sent stands there with its value. */
export function like<Item extends object>(fields: object, onFound = (): void => undefined): CreationRecovery<Item> {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined);
  const isOurs = (item: Item): boolean => sent.every(([name, value]) => Reflect.get(item, name) === value);
  return { isOurs, isCandidate: isOurs, describe: (item) => JSON.stringify(item), onFound };
}

/** Of a domain, which the service may spell in another way. */
export function likeDomain(domain: string): CreationRecovery<{ domain: string }> {
  const isOurs = (item: { domain: string }): boolean => normalisedOrigin(item.domain) === normalisedOrigin(domain);
  return { ...like({}), isOurs, isCandidate: isOurs };
}

/** Creates a compute that is told from others by all that is sent. */
export const createCompute = (
  client: Client,
  projectId: string,
  attributes: EndpointAttributes,
  options: ChangeOptions = {},
): Promise<EndpointRecord> => client.computes.create({ projectId, attributes, recovery: like(attributes) }, options);
