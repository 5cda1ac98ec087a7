/** What the engine gives to a provider of ours, as a line of JSON for each call. PROVIDER_CALLS: the file that gets it. */
const { appendFileSync } = require("node:fs");

/** As the imitation of the engine says it (test/support/rules/engine/process.ts). */
const GIVEN = {
  check: (request) => [request.getOlds(), request.getNews()],
  diff: (request) => [...objectIn(request), request.getNews(), ...compared(request)],
  create: (request) => [request.getProperties(), request.getPreview(), request.getTimeout()],
  read: (request) => [request.getId(), request.getProperties(), request.getInputs(), request.getTimeout()],
  update: (request) => [
    ...[...objectIn(request), request.getNews(), ...compared(request)],
    ...[request.getPreview(), request.getTimeout()],
  ],
  delete: (request) => [request.getId(), request.getProperties(), request.getOldInputs(), request.getTimeout()],
};
const objectIn = (request) => [request.getId(), request.getOlds()];
const compared = (request) => [request.getOldInputs(), request.getIgnorechangesList()];

exports.record = (method, request) => {
  const { PROVIDER_CALLS: file } = process.env;
  if (file === undefined || !Object.hasOwn(GIVEN, method)) return;
  const given = GIVEN[method](request).map((one) => one?.toJavaScript?.() ?? one);
  appendFileSync(file, `${JSON.stringify({ method, urn: request.getUrn(), given })}\n`);
};
