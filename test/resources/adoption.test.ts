/** Who creates what exists and is being deleted (docs/design/rules.md, 4): the order alone. */
import { Deadline } from "../../src/client";
import { RunMemory } from "../../src/host/run/memory";
import type { Call } from "../../src/host/lifecycle";
import { useExistingOrCreate } from "../../src/resources/shared/adoption";

interface Thing {
  readonly name: string;
}

/** A creation that begins while another resource deletes the thing. `deletion`: what that does and how it ends. */
async function creatingDuring(deletion: (things: Thing[]) => void): Promise<{ made: string; lists: number }> {
  const memory = new RunMemory();
  const things: Thing[] = [{ name: "thing" }];
  let lists = 0;
  let end = (): void => undefined;
  const mayEnd = new Promise<void>((resolve) => (end = resolve));
  const deleting = memory.objects.whileReleasing({ objects: ["thing"], by: "old", deletes: true }, async () => {
    await mayEnd;
    deletion(things);
  });
  const view = {
    urn: "new",
    by: "new",
    deadline: new Deadline(10_000),
    siblingStartsMs: 0,
    onTakeOver: () => undefined,
  };
  // Nothing else of a call is used.
  const call = { run: memory.viewOf(view) } as unknown as Call<never>;
  const creating = useExistingOrCreate<Thing, string>(call, () => "thing", {
    collection: {
      list: async () => {
        lists += 1;
        return [...things];
      },
      pollWithinLag: async () => undefined,
    },
    matches: () => true,
    useExisting: () => "taken over",
    create: async () => "created",
    advice: "",
  });
  await new Promise((resolve) => setImmediate(resolve));
  end();
  await deleting.catch(() => undefined);
  return { made: await creating, lists };
}

test("after a deletion it is created, whatever the list showed", async () => {
  expect(await creatingDuring(() => undefined)).toEqual({ made: "created", lists: 1 });
});

test("after a deletion that has failed it is taken over, if it still exists", async () => {
  const failed = creatingDuring(() => {
    throw new Error("refused");
  });
  expect(await failed).toEqual({ made: "taken over", lists: 2 });
});

test("after a deletion that has failed and took effect it is created", async () => {
  const failed = creatingDuring((things) => {
    things.pop();
    throw new Error("no response");
  });
  expect(await failed).toEqual({ made: "created", lists: 2 });
});
