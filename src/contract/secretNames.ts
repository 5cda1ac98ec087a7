const SECRET_NAME = /secret|password|passphrase|token|api_?key|credential/i;

/**
 * Whether the name of a field tells that its value is a secret: a response of the service and a state that somebody
 * edited by hand mark it nowhere else.
 */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
