import * as app from "../../src/emulator/app";
import type { Emulator, EmulatorOptions } from "../../src/emulator";
import type { WatchedGate } from "../../src/emulator/control/controlRoutes";
import { Connections } from "../../src/emulator/postgres/connections";
import { start } from "./emulator";

/** An emulator whose routes show a gate, without a Postgres. `uriOf` gets the id of a compute and the key. */
export async function startWatched(
  options: EmulatorOptions,
  uriOf: (id: string, key: string) => string,
): Promise<Emulator> {
  const { createApp } = app;
  const withGate = jest.spyOn(app, "createApp").mockImplementation((control) => {
    const gate: WatchedGate = {
      connections: new Connections(control.key),
      authority: { certificate: "" },
      connectionUri: ({ id }) => uriOf(id, control.key.current),
    };
    return createApp({ ...control, gate });
  });
  try {
    return await start(options);
  } finally {
    withGate.mockRestore();
  }
}
