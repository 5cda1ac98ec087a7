/**
 * The same classes and functions as `pulumi-svc`, with resources of the native plugin: for the whole program, since the
 * classes are the same objects. The entry `packages` of Pulumi.yaml names the plugin.
 */
import { chooseNative } from "./program/protocol";

chooseNative();

export * from "./index";
