/** Runs the work for each item, at most so many at a time, and keeps the order of the results. */
export async function inParallel<Item, Result>(
  most: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const limit = limiter(most);
  return Promise.all(items.map((item) => limit(() => work(item))));
}

/** Runs at most so many at a time, in the order of the calls. */
export function limiter(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
