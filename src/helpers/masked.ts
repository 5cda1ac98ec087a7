/**
 * The value of a field in a response, or `undefined` if the response does not show it: the service omits, empties or
 * masks secrets (docs/design/api.md, OAuth providers). A partly masked value shows no difference either. In a file of
 * its own: resources and functions read responses, and both may load only the helpers.
 */
export function readable(value: string | undefined): string | undefined {
  return value === undefined || /^[*•]*$|[*•]{3}/.test(value) ? undefined : value;
}
