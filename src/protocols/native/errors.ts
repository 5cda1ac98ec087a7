/** Errors of calls in the form that the engine needs of a plugin. */
import type * as Grpc from "@grpc/grpc-js";
import type * as ProviderMessages from "@pulumi/pulumi/proto/provider_pb";
import type * as StatusMessages from "@pulumi/pulumi/proto/status_pb";
import type * as AnyMessages from "google-protobuf/google/protobuf/any_pb";
import type { Properties } from "../../contract/hiddenKeys";
import { CallError } from "../../runtime/calls/failures";
import type { Marked } from "../../runtime/requests";
import { plainError } from "../engine/errors";
import { ofSdk } from "../engine/sdk";
import { structOf } from "./values";

const load = ofSdk();
// The modules have these declared types.
const grpc = load("@grpc/grpc-js") as typeof Grpc;
const { ErrorResourceInitFailed } = load("./proto/provider_pb") as typeof ProviderMessages;
const { Status } = load("./proto/status_pb") as typeof StatusMessages;
const { Any } = load("google-protobuf/google/protobuf/any_pb.js") as typeof AnyMessages;

/** A failed call that left an object behind, which the engine stores: its message alone, and what is to be stored. */
class PartialFailure extends Error {
  readonly #kept: { readonly id: string; readonly outs: Marked };

  constructor({ message }: Error, kept: { readonly id: string; readonly outs: Marked }) {
    super(message);
    this.stack = "";
    this.#kept = kept;
  }

  // Not a property: it holds secrets, and anything that prints an error prints its properties.
  metadata(): Grpc.Metadata {
    const { id, outs } = this.#kept;
    const failure = new ErrorResourceInitFailed();
    failure.setId(id);
    failure.setProperties(structOf(outs));
    failure.setReasonsList([this.message]);
    const detail = new Any();
    detail.pack(failure.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const status = new Status();
    status.setCode(grpc.status.UNKNOWN);
    status.setMessage(this.message);
    status.addDetails(detail);
    const metadata = new grpc.Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
    return metadata;
  }
}

/** The error of a creation or an update, which may have left something behind. */
export function changeError(thrown: unknown, mark: (outs: Properties) => Marked): Error {
  if (!(thrown instanceof CallError)) return plainError(thrown);
  const kept = thrown.kept();
  const plain = plainError(thrown.message, thrown.cause);
  return kept === undefined ? plain : new PartialFailure(plain, { id: kept.id, outs: mark(kept.outs) });
}

/** The answer to a call that has failed. */
export function failedCall(thrown: unknown): Partial<Grpc.StatusObject> {
  const { message } = plainError(thrown);
  const metadata = thrown instanceof PartialFailure ? { metadata: thrown.metadata() } : {};
  return { code: grpc.status.UNKNOWN, details: message, ...metadata };
}
