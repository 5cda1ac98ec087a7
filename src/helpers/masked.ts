/**
 * The value of a field in a response, or `undefined` where the response does not show it: the service leaves secrets out, empties or
 * masks them (docs/design/api.md, OAuth providers). A partly masked value shows no difference either.
 * In a file of its own: resources and functions read responses, and the helpers are all that both may load.
 */
export function readable(value: string | undefined): string | undefined {
  return value === undefined || /^[*•]*$|[*•]{3}/.test(value) ? undefined : value;
}
