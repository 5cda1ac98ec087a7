import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, parse } from "yaml";
import { z } from "zod";
import { unknownSettings } from "../../src/contract/settings";
import { ROOT } from "../support/cli";
import { codeBlocks } from "../support/codeBlocks";

const FOLDER = join("examples", "operator");
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), "utf8");

/** As kubectl reads it. */
const YAML = { version: "1.1" } as const;

/*
 * What stack.yaml uses of the operator's CRD `stacks.pulumi.com`, version v1, with the place below its schema, and of
 * Kubernetes itself. Strict: the API server refuses a field that it does not know.
 */

/** spec.envRefs.<name>, and wherever else the CRD refers to a value. `type` is a plain text there; the operator's code knows four, and refuses two. */
const reference = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("Secret"), secret: z.strictObject({ name: z.string(), key: z.string() }) }),
  z.strictObject({ type: z.literal("Literal"), literal: z.strictObject({ value: z.string() }) }),
]);

/** The pattern of spec.workspaceTemplate.spec.resources.limits.<name>, for units that are in use. */
const quantity = z.union([z.int(), z.string().regex(/^\d+(\.\d+)?(m|k|M|G|Ki|Mi|Gi)?$/)]);

/** spec.workspaceTemplate.spec.podTemplate.spec: a PodSpec of core/v1, merged into the operator's own by the names of the containers. */
const pod = z.strictObject({
  containers: z.array(
    z.strictObject({
      name: z.string(),
      volumeMounts: z.array(
        z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() }),
      ),
    }),
  ),
  volumes: z.array(z.strictObject({ name: z.string(), secret: z.strictObject({ secretName: z.string() }) })),
});

/** spec.workspaceTemplate.spec: a Workspace of auto.pulumi.com/v1alpha1, of which all is optional. */
const workspace = z.strictObject({
  image: z.string(),
  resources: z.strictObject({
    requests: z.record(z.string(), quantity).optional(),
    limits: z.record(z.string(), quantity).optional(),
  }),
  podTemplate: z.strictObject({ spec: pod }),
});

/** spec.fluxSource */
const fluxSource = z.strictObject({
  sourceRef: z.strictObject({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
  dir: z.string().optional(),
});

/** metadata.name is limited by the operator: it is part of the names and labels of the workspace. */
const stackSchema = z.strictObject({
  apiVersion: z.literal("pulumi.com/v1"),
  kind: z.literal("Stack"),
  metadata: z.strictObject({ name: z.string().max(42), namespace: z.string() }),
  spec: z.strictObject({
    stack: z.string(),
    serviceAccountName: z.string().optional(),
    projectRepo: z.string().optional(),
    repoDir: z.string().optional(),
    branch: z.string().optional(),
    fluxSource: fluxSource.optional(),
    envRefs: z.record(z.string(), reference).optional(),
    // Other values than texts since v2.3.0 only.
    config: z.record(z.string(), z.string()),
    resyncFrequencySeconds: z.int().min(60),
    continueResyncOnCommitMatch: z.boolean(),
    refresh: z.boolean(),
    destroyOnFinalize: z.boolean(),
    workspaceTemplate: z.strictObject({ spec: workspace }),
  }),
});

/** Of Kubernetes: core/v1 and rbac.authorization.k8s.io/v1. */
const account = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("ServiceAccount"),
  metadata: z.strictObject({ name: z.string(), namespace: z.string() }),
});
const binding = z.strictObject({
  apiVersion: z.literal("rbac.authorization.k8s.io/v1"),
  kind: z.literal("ClusterRoleBinding"),
  metadata: z.strictObject({ name: z.string() }),
  roleRef: z.strictObject({
    apiGroup: z.literal("rbac.authorization.k8s.io"),
    kind: z.literal("ClusterRole"),
    name: z.string(),
  }),
  subjects: z.array(z.strictObject({ kind: z.literal("ServiceAccount"), name: z.string(), namespace: z.string() })),
});

const documents = parseAllDocuments(read(FOLDER, "stack.yaml"), YAML).map((document) => document.toJS() as unknown);
const manifests = z.tuple([account, binding, stackSchema]);
const [serviceAccount, authDelegator, stack] = manifests.parse(documents);

test("stack.yaml has what the schemas of the operator and of Kubernetes know, and the names in it agree", () => {
  const { metadata, spec } = stack;
  expect(serviceAccount.metadata).toEqual({ name: spec.serviceAccountName, namespace: metadata.namespace });
  expect(authDelegator.subjects).toEqual([{ kind: "ServiceAccount", ...serviceAccount.metadata }]);
  expect(spec.stack.split("/").slice(1)).toEqual([parse(read(FOLDER, "Pulumi.yaml")).name, "prod"]);
  const { devDependencies } = JSON.parse(read("package.json")) as { devDependencies: Record<string, string> };
  expect(spec.workspaceTemplate.spec.image).toContain(`:${devDependencies["@pulumi/pulumi"]}-`);
});

test("the key arrives as a file of the mounted Secret, by the path that the configuration names", () => {
  const { config, workspaceTemplate } = stack.spec;
  const { containers, volumes } = workspaceTemplate.spec.podTemplate.spec;
  // The name of the operator's own container.
  expect(containers.map(({ name }) => name)).toEqual(["pulumi"]);
  const [mount] = containers[0]?.volumeMounts ?? [];
  const secret = volumes.find(({ name }) => name === mount?.name)?.secret.secretName;
  const key = config["svc:apiKeyFile"]?.replace(`${mount?.mountPath}/`, "");
  expect(read(FOLDER, "README.md")).toContain(`create secret generic ${secret} --from-file=${key}=`);
  expect(unknownSettings(Object.keys(config), "pulumi-svc-operator")).toEqual([]);
  const own = Object.keys(config).filter((name) => !name.includes(":"));
  expect(own.filter((name) => !read(FOLDER, "index.ts").includes(`"${name}"`))).toEqual([]);
});

test("the blocks of README.md fit into the Stack", () => {
  const blocks = codeBlocks(join(FOLDER, "README.md")).filter(({ language }) => language === "yaml");
  expect(blocks).toHaveLength(2);
  for (const { text } of blocks) {
    const spec = { ...stack.spec, ...(parse(text, YAML) as object) };
    expect(stackSchema.safeParse({ ...stack, spec }).error).toBeUndefined();
  }
});

test.each([
  ["an unknown field", "refresh: true", "refreshh: true"],
  ["a text for a boolean", "refresh: true", 'refresh: "true"'],
  ["a number in the configuration", "projectId: prj-shop", "projectId: 7"],
  ["a unit that does not exist", "memory: 2Gi", "memory: 2GB"],
  ["a reference without a name", "name: pulumi-access-token", "nam: pulumi-access-token"],
  ["a mount without a path", "mountPath:", "path:"],
  ["a field of another kind of volume", "secretName:", "name:"],
  ["no stack", "stack: acme/pulumi-svc-operator/prod", "shallow: true"],
])("%s is refused", (_, from, to) => {
  const changed = read(FOLDER, "stack.yaml").replace(from, to);
  expect(changed).not.toBe(read(FOLDER, "stack.yaml"));
  const parsed = parseAllDocuments(changed, YAML).map((document) => document.toJS() as unknown);
  expect(manifests.safeParse(parsed).success).toBe(false);
});
