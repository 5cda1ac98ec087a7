/** Whether standard output is a terminal that wants colours: `NO_COLOR` and its like count. */
export const wantsColours = (): boolean => process.stdout.isTTY && process.stdout.hasColors();
