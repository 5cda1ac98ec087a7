import { z } from "zod";
import { pulumiIn } from "./pulumi";
import { parsed } from "./state";

const listed = z.array(z.object({ name: z.string() }));

/**
 * The names of the stacks that the backend lists for the program around this folder.
 * @throws if it does not list them: then nothing is known of them.
 */
export async function stackNames(folder: string, ...options: readonly string[]): Promise<string[]> {
  const { ok, stdout, reason } = await pulumiIn(folder, undefined)(["stack", "ls", "--json", ...options]);
  if (!ok) throw new Error(`pulumi stack ls failed: ${reason}`);
  const { success, data } = listed.safeParse(parsed(stdout));
  if (!success) throw new Error("pulumi stack ls --json did not print the stacks");
  return data.map(({ name }) => name);
}
