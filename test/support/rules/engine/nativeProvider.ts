/** The native plugin as the engine calls it, without sockets: the answers and errors are the messages of its protocol. */
import { ErrorResourceInitFailed, type DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import type { Properties } from "../../../../src/contract/hiddenKeys";
import { typeInUrn } from "../../../../src/contract/identifiers";
import type { Kind } from "../../../../src/contract/pointer";
import { failedCall } from "../../../../src/protocols/native/errors";
import { NativeProvider } from "../../../../src/protocols/native/nativeProvider";
import type { Session } from "../../../../src/runtime/session";
import type { Provider } from "./process";
import type { Stored } from "./state";

/** What the engine says of a resource with each call. */
export type About = Pick<Stored<Kind>, "urn" | "timeouts" | "ignoreChanges">;

/** A process of the plugin. */
export function startedPlugin(session: Session, settings: Properties): (about: About) => Provider {
  const plugin = new NativeProvider(session, () => "{}");
  const request = new messages.ConfigureRequest();
  request.setArgs(struct(settings));
  plugin.configure(request);
  return (about) => providerOf(plugin, about);
}

function providerOf(plugin: NativeProvider, { urn, timeouts = {}, ignoreChanges = [] }: About): Provider {
  const about = <Request extends OfResource>(made: Request, id?: string): Request => {
    made.setUrn(urn);
    made.setType(typeInUrn(urn));
    if (id !== undefined) made.setId?.(id);
    return made;
  };
  return {
    isNative: true,

    async check(olds, news) {
      const request = about(new messages.CheckRequest());
      request.setOlds(struct(olds));
      request.setNews(struct(news));
      const response = await answer(() => plugin.check(request));
      const failures = response
        .getFailuresList()
        .map((one) => ({ property: one.getProperty(), reason: one.getReason() }));
      return { inputs: properties(response.getInputs()), failures };
    },

    async diff(id, outs, news, oldInputs) {
      const request = about(new messages.DiffRequest(), id);
      request.setOlds(struct(outs));
      request.setNews(struct(news));
      request.setOldInputs(struct(oldInputs));
      request.setIgnorechangesList([...ignoreChanges]);
      const response = await answer(() => plugin.diff(request));
      return {
        changes: changesIn(response),
        diffs: response.getDiffsList(),
        replaces: response.getReplacesList(),
        deleteBeforeReplace: response.getDeletebeforereplace(),
      };
    },

    async create(news, isPreview) {
      const request = about(new messages.CreateRequest());
      request.setProperties(struct(news));
      request.setPreview(isPreview);
      request.setTimeout(timeouts.create ?? 0);
      const response = await answer(() => plugin.create(request));
      return { id: response.getId(), outs: properties(response.getProperties()) };
    },

    async read(id, outs, inputs) {
      const request = about(new messages.ReadRequest(), id);
      request.setProperties(struct(outs));
      request.setInputs(struct(inputs));
      request.setTimeout(timeouts.read ?? 0);
      const response = await answer(() => plugin.read(request));
      return {
        id: response.getId(),
        props: properties(response.getProperties()),
        inputs: properties(response.getInputs()),
      };
    },

    async update(id, outs, news, { oldInputs, isPreview }) {
      const request = about(new messages.UpdateRequest(), id);
      request.setOlds(struct(outs));
      request.setNews(struct(news));
      request.setOldInputs(struct(oldInputs));
      request.setIgnorechangesList([...ignoreChanges]);
      request.setPreview(isPreview);
      request.setTimeout(timeouts.update ?? 0);
      const response = await answer(() => plugin.update(request));
      return { outs: properties(response.getProperties()) };
    },

    async delete(id, outs, inputs) {
      const request = about(new messages.DeleteRequest(), id);
      request.setProperties(struct(outs));
      request.setOldInputs(struct(inputs));
      request.setTimeout(timeouts.delete ?? 0);
      await answer(() => plugin.delete(request));
    },
  };
}

interface OfResource {
  setUrn: (urn: string) => void;
  setType: (type: string) => void;
  setId?: (id: string) => void;
}

// Properties are plain JSON, which is what a Struct takes.
const struct = (of: Properties): Struct => Struct.fromJavaScript(of as Record<string, JavaScriptValue>);
const properties = (of: Struct | undefined): Properties => of?.toJavaScript() ?? {};

/** Undefined: the engine compares by itself. */
function changesIn(response: DiffResponse): boolean | undefined {
  const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
  const changes = response.getChanges();
  return changes === DIFF_NONE ? false : changes === DIFF_SOME ? true : undefined;
}

/** The message as it arrives at the engine. @throws as the engine understands the error */
async function answer<Message>(work: () => Message | Promise<Message>): Promise<Message> {
  try {
    return await work();
  } catch (thrown) {
    const { details = "", metadata } = failedCall(thrown);
    const [detail] = metadata?.get("grpc-status-details-bin") ?? [];
    throw detail === undefined ? new Error(details) : initError(details, Buffer.from(detail));
  }
}

/** With what the engine stores. */
function initError(message: string, detail: Buffer): Error {
  const [packed] = Status.deserializeBinary(detail).getDetailsList();
  const failed = ErrorResourceInitFailed.deserializeBinary(packed?.getValue_asU8() ?? new Uint8Array());
  return Object.assign(new Error(message), {
    id: failed.getId(),
    properties: properties(failed.getProperties()),
    reasons: failed.getReasonsList(),
  });
}
