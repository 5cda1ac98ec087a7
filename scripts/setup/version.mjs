/** @typedef {[number, number, number]} Version */

/**
 * @param {string} text such as "v3.259.0", "go1.26.1", "v20.20.2"
 * @returns {Version | undefined}
 */
export function parseVersion(text) {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : undefined;
}

/**
 * @param {Version} version
 * @param {Version} least
 */
export function isAtLeast(version, least) {
  for (const i of /** @type {const} */ ([0, 1, 2])) {
    if (version[i] !== least[i]) return version[i] > least[i];
  }
  return true;
}
