import { EACH_CASE } from "../kinds";

/** Of every kind. */
export const DECLARATIONS = EACH_CASE.map(({ declaration }) => declaration);
