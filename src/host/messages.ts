/** For a replacement that may take over an existing object. */
export const adoptionNote = ({ adopt }: { adopt?: unknown }): string =>
  adopt === true ? '; with "adopt" it takes over what is there by then' : "";
