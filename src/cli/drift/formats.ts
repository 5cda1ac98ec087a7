/** For `--accept`. */
export { code, table } from "../report/markdown";
export { type Format, FORMATS } from "../report/render";
export { printable } from "../report/terminal";
export { valueText } from "./driftReport";
