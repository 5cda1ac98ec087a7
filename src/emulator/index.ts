export type { EmulatorOptions, EmulatorSeed } from "./options";
export { startEmulator, type Emulator } from "./http/server";
