import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";

beforeAll(() =>
  pulumi.runtime.setMocks(
    { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }), call: () => ({}) },
    "proj",
    "dev",
  ),
);

const CANARY = "canary-component";
const ANYTHING = [undefined, null, 7, CANARY, true, [CANARY], pulumi.output({}), Promise.resolve({}), () => undefined];

/** A component's messages about arguments that only JavaScript allows. */
function words(component: unknown, args: unknown, opts?: unknown): string {
  const Component = component as new (name: string, args: unknown, opts?: unknown) => unknown; // any arguments at all
  try {
    new Component("it", args, opts);
    return "accepted";
  } catch (error) {
    const { name, message } = error as Error; // a component throws Errors
    expect(name).toBe("Error");
    expect(message).toMatch(/^(ComputeGroup|ProjectAuth) "it": /);
    expect(message).not.toContain(CANARY);
    return message;
  }
}

const GROUP = { projectId: "p", branchId: "br-1", primary: {} };
const AUTH = { projectId: "p" };

test.each([
  [svc.ComputeGroup, "primary"],
  [svc.ComputeGroup, "replicas"],
  [svc.ProjectAuth, "oauth"],
  [svc.ProjectAuth, "redirectDomains"],
  [svc.ProjectAuth, "exclusiveDomains"],
  [svc.ProjectAuth, "email"],
])("%p answers any argument with a message, also as %s", (component, name) => {
  const good = component === svc.ComputeGroup ? GROUP : AUTH;
  for (const value of ANYTHING) {
    expect(words(component, value)).toMatch(/": the arguments (are missing|must be an object)/);
    words(component, { ...good, [name]: value });
    words(component, { ...good, [name]: [value] });
    words(component, { ...good, [name]: { google: value, key: value } });
  }
  for (const opts of [null, 7, CANARY]) expect(words(component, good, opts)).toMatch(/the options must be an object/);
});

test("a group without a primary, or with replicas that are an Output, says what it needs", () => {
  const { primary: _primary, ...rest } = GROUP;
  expect(words(svc.ComputeGroup, rest)).toBe('ComputeGroup "it": primary: is required');
  expect(words(svc.ComputeGroup, { ...GROUP, primary: pulumi.output({}) })).toBe(
    'ComputeGroup "it": primary: must be an object, not an Output',
  );
  expect(words(svc.ComputeGroup, { ...GROUP, replicas: pulumi.output(2) })).toBe(
    'ComputeGroup "it": replicas: must be a whole number, 0 or more, or a list, not an Output: each is a resource of its own',
  );
});

test("names that a group does not know are refused at each depth, all at once", () => {
  expect(
    words(svc.ComputeGroup, {
      project: "p",
      branchId: "br-1",
      primary: { sise: CANARY, type: "read_write" },
      replicas: [{ key: 7 }, { setings: {} }],
    }),
  ).toBe(
    'ComputeGroup "it": project: unknown property. Did you mean "projectId"?; projectId: is required; ' +
      'primary.sise: unknown property. Did you mean "size"?; ' +
      "primary.type: unknown property. Known: name, size, scaleToZero, poolerEnabled, poolerMode, disabled, passwordlessAccess, regionId, provisioner, settings, restartTriggers, adopt, deletionProtection; " +
      'replicas[0].key: must be a string that is not empty; replicas[1].setings: unknown property. Did you mean "settings"?',
  );
});

test("credentials in the words of the service are refused with those of this package", () => {
  const google = { client_id: CANARY, client_secret: CANARY };
  expect(words(svc.ProjectAuth, { ...AUTH, oauth: { google } })).toBe(
    'ProjectAuth "it": oauth.google.client_id: unknown property. Did you mean "clientId"?; ' +
      'oauth.google.client_secret: unknown property. Did you mean "clientSecret"?',
  );
});

test("names that the managed auth does not know are refused at each depth, all at once", () => {
  const args = {
    projectID: "p",
    oauth: { google: "Shared", github: null },
    redirectDomains: [pulumi.output("x")],
    exclusiveDomains: "yes",
    email: { type: "shared", hots: CANARY },
  };
  expect(words(svc.ProjectAuth, args).split("; ")).toEqual([
    'ProjectAuth "it": projectID: unknown property. Did you mean "projectId"?',
    "projectId: is required",
    'oauth.google: must be "shared", false or an object',
    "oauth.github: must be an object, not null",
    'email.hots: unknown property. Did you mean "host"?',
    expect.stringMatching(/^exclusiveDomains: must be true or false, not a string\. .*config\.requireBoolean/),
    expect.stringMatching(/^redirectDomains: .*plain strings/),
  ]);
});
