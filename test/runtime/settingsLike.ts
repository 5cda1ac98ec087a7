/** Names and values without regard to case, entry by entry. */
export const settingsForm = (settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name.toLowerCase(), value.toLowerCase()]));
