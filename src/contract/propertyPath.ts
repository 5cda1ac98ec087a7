/** Property paths as the engine writes them and accepts them in `ignoreChanges`. */
export type Segment = string | number;

/** Splits `settings.pgSettings["app.token"]` or `domains[0]`; `*` matches every key or index. */
export function segmentsOf(path: string): Segment[] {
  const parts = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\[(\*)\]|([^.[\]]+)/g);
  return [...parts].map(([, quoted, index, every, name = ""]) => {
    if (index !== undefined) return Number(index);
    return quoted?.replace(/\\(.)/g, "$1") ?? every ?? name;
  });
}

/** Whether a path of `ignoreChanges` is this path or contains it. */
export function leadsTo(path: string, segments: readonly string[]): boolean {
  const leading = segmentsOf(path);
  return (
    leading.length > 0 && leading.every((segment, index) => segment === "*" || String(segment) === segments[index])
  );
}
