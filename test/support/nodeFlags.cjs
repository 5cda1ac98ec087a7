/**
 * Node computes this list once a process, jest's copy of `process` each time that it is read, and axios reads it before each
 * request: a twentieth of the processor time of tests that send thousands.
 */
const { allowedNodeEnvironmentFlags } = process;
Object.defineProperty(process, "allowedNodeEnvironmentFlags", { value: allowedNodeEnvironmentFlags });
