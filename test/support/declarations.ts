import { EACH_CASE } from "../kinds";

/** The declarations of all kinds. */
export const DECLARATIONS = EACH_CASE.map(({ declaration }) => declaration);
