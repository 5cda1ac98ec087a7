/** Values as the engine sends them to a plugin that does not accept secrets (docs/design/engine.md, Native plugins). */
import type * as StructMessages from "google-protobuf/google/protobuf/struct_pb";
import { asSecret, mapSecrets } from "../../contract/engineSecrets";
import { clean, isUnknown, type Properties } from "../../contract/hiddenKeys";
import { ofSdk } from "../engine/sdk";

const { Struct } = ofSdk()("google-protobuf/google/protobuf/struct_pb.js") as typeof StructMessages;

export type Struct = StructMessages.Struct;

/** In clear: the configuration brings secrets marked in any case. */
const inClear = (value: unknown): unknown => mapSecrets(value, inClear);

export const propertiesOf = (struct: Struct | undefined): Properties =>
  // Of an object, so it is one.
  inClear(struct?.toJavaScript() ?? {}) as Properties;

/** The types of the package's values are narrower than JSON. */
type Plain = Parameters<typeof Struct.fromJavaScript>[0];

export const structOf = (properties: Properties): Struct => Struct.fromJavaScript(clean(properties) as Plain);

/** The settings of a provider with the key marked: a program may have given it in clear. */
export const markedSettings = ({ apiKey, ...others }: Properties): Properties => ({
  ...others,
  ...(apiKey !== undefined && { apiKey: isUnknown(apiKey) ? apiKey : asSecret(apiKey) }),
});
