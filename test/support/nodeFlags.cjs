/**
 * Node computes this list once, but jest's copy of `process` computes it each time that it is read, and axios reads it
 * before each request: a twentieth of the processor time of tests that send thousands.
 */
const { allowedNodeEnvironmentFlags } = process;
Object.defineProperty(process, "allowedNodeEnvironmentFlags", { value: allowedNodeEnvironmentFlags });
