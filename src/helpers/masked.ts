/**
 * What an answer shows of a field, or `undefined` where it shows nothing: the service leaves secrets out, empties or
 * masks them (docs/design/api.md, OAuth providers). A value that is masked in part tells nothing of a difference either.
 */
export function readable(value: string | undefined): string | undefined {
  return value === undefined || /^[*•]*$|[*•]{3}/.test(value) ? undefined : value;
}
