type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Drops keys without a value: neither a request nor a state contains an `undefined`. */
export function omitUndefined<T extends object>(value: T): Present<T> {
  // Only keys whose value is undefined are removed, as Present says.
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Present<T>;
}
