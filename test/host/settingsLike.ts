/** Equal without regard to case, entry by entry. */
export const sameSettings = (left: Record<string, string>, right: Record<string, string>): boolean =>
  [...Object.keys(left), ...Object.keys(right)].every(
    (name) => left[name]?.toLowerCase() === right[name]?.toLowerCase(),
  );
