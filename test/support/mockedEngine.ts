import * as pulumi from "@pulumi/pulumi";

/**
 * The engine as a program sees it: creates resources from their inputs. Unlike with `pulumi.runtime.setMocks` alone,
 * functions ask the service, because this monitor is not one of the SDK's mocks.
 */
export async function mockEngine({ isPreview = false } = {}): Promise<void> {
  const newResource = ({ name, inputs }: pulumi.runtime.MockResourceArgs) => ({
    id: `${name}-id`,
    state: inputs as object,
  });
  await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "proj", "dev", isPreview);
  const monitor = pulumi.runtime.getMonitor();
  if (monitor === undefined) throw new Error("there are no mocks");
  pulumi.runtime.setMockOptions(new Proxy(monitor, { getPrototypeOf: () => null }), "proj", "dev", isPreview);
}
