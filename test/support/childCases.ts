import { harness, thrownBy, UNKNOWN, withIntegration } from "./harness";
import { resourceCases, type ResourceCase } from "./resourceCases";

type Child<Args extends object, Outputs extends object> = Omit<
  ResourceCase<Args, Outputs>,
  "prepare" | "remove" | "removedWhen"
>;

/** What holds for everything that lives in an auth integration (docs/design/decisions.md, Replacing, moving, adopting). */
export function childCases<Args extends object, Outputs extends object>(child: Child<Args, Outputs>): void {
  const { lifecycle, inputs } = child;
  const started = async () => {
    const given = await harness(lifecycle);
    await withIntegration(given);
    return given;
  };

  resourceCases({
    ...child,
    // `replacedBy` has the arguments beside projectId.
    replacedBy: { projectId: "prj-other", ...child.replacedBy },
    prepare: withIntegration,
    remove: (given) => given.edit({ kind: "integration", delete: true }),
    removedWhen: "its integration is",
  });

  test("a project that is not known yet is one whose integration is being replaced: the child is replaced as well", async () => {
    const given = await started();
    const state = await given.create(inputs);
    expect(await given.check({ ...inputs, projectId: UNKNOWN })).toEqual([]);
    expect(await given.diff(state, { ...inputs, projectId: UNKNOWN })).toMatchObject({
      replaces: ["projectId"],
      deleteBeforeReplace: lifecycle.deleteBeforeReplace,
    });
  });

  test("it is gone when another integration stands in the place of its own", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.edit({ kind: "integration", delete: true });
    await withIntegration(given);
    given.restart();
    expect(await given.read(state)).toBeUndefined();
  });

  test("deleting it succeeds when it is gone, and then the whole integration", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.delete(state);
    await given.edit({ kind: "integration", delete: true });
    await given.delete(state);
  });

  test("without an integration it is not made, and the error says what to do", async () => {
    const given = await harness(lifecycle);
    const error = await thrownBy(given.create(inputs));
    expect(error.message).toMatch(/404.*declare an AuthIntegration and pass its "projectId" output/);
    expect(error).not.toHaveProperty("id");
  });
}
