import { ConflictError } from "../client";

interface Creation<Made, Found> {
  create: () => Promise<Made>;
  /** Asks the service anew for what is in the way. */
  look: () => Promise<Found | undefined>;
  /** What is done with something that stands: the same as if the first list had shown it. */
  standing: (found: Found) => Promise<Made>;
  /** What to do when nothing turns up. */
  advice: string;
}

/** Creates what no list showed. Lists lag (service-notes.md, "Behaviour"), so a conflict may be the first to tell that it stands. */
export async function creatingUnlisted<Made, Found>(creation: Creation<Made, Found>): Promise<Made> {
  const { create, look, standing, advice } = creation;
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const found = await look();
    if (found !== undefined) return standing(found);
    throw new Error(`${error.message}. ${advice}`, { cause: error });
  }
}
