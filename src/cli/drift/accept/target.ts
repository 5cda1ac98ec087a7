import type { Kind } from "../../../contract/pointer";
import type { ReadSetting } from "../../../contract/settings";
import type { Property } from "../report";
import type { Component } from "./component";

/** A resource that drifted, and the found values that the program should declare. */
export interface Target {
  readonly kind: Kind;
  readonly name: string;
  readonly urn: string;
  readonly stack: { readonly name: string; readonly project: string };
  /** The component of this package that creates it: its position and arguments are used. */
  readonly component?: Component | undefined;
  /** Where the program creates it, counted from 1; undefined: found by class and name. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | undefined;
  /** Other resources that the same `new` creates, as far as the state shows. */
  readonly beside: readonly string[];
  readonly changes: readonly Property[];
  /** The settings that it was deployed with. @default those of the environment */
  readonly readSetting?: ReadSetting | undefined;
}
