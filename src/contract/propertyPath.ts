/** Paths of properties, as the engine writes them and takes them in `ignoreChanges`. */
export type Segment = string | number;

/** Of `settings.pgSettings["app.token"]` or `domains[0]`; `*` is every key or index. */
export function segmentsOf(path: string): Segment[] {
  const parts = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\[(\*)\]|([^.[\]]+)/g);
  return [...parts].map(([, quoted, index, every, name = ""]) => {
    if (index !== undefined) return Number(index);
    return quoted?.replace(/\\(.)/g, "$1") ?? every ?? name;
  });
}

/** Whether a path of `ignoreChanges` leads there, or to what it is in. */
export function leadsTo(path: string, segments: readonly string[]): boolean {
  const leading = segmentsOf(path);
  return (
    leading.length > 0 && leading.every((segment, index) => segment === "*" || String(segment) === segments[index])
  );
}
