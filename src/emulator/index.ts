export type { EmulatorOptions } from "./options";
export { startEmulator, type Emulator } from "./http/server";
