/**
 * A transport over which a call is sent until it is answered, refused, or patience ends.
 *
 * Invariants: always with the same request id, to the next server when one does not answer; any server serves any request, so
 * leaving one for the next loses nothing.
 */

import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";

import { judge, Refused } from "./errors.js";
import { headers, type Options } from "./options.js";
import { Patience } from "./patience.js";

/** What clients of the generated services are made over. Streams of answers are not asked for again: see `streams`. */
export class Retrying implements Transport {
  private at = 0;

  constructor(
    private readonly routes: readonly Transport[],
    readonly options: Options,
  ) {
    if (routes.length === 0) {
      throw new Error("a client needs a server");
    }
  }

  /** For one call, or until the next frame of a stream. */
  patience(): Patience {
    return new Patience(this.options, this.routes.length);
  }

  /** The place of the server that is spoken to, for `leave`. */
  get current(): number {
    return this.at;
  }

  /** Goes on to the next server, unless another caller already left this one. */
  leave(at: number): void {
    if (this.at === at) {
      this.at = (at + 1) % this.routes.length;
    }
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const message = identified(method.input, input);
    const requestId = idOf(message);
    const patience = this.patience();
    for (;;) {
      const at = this.at;
      const failed = await headers(this.options, header)
        .then((sent) => this.route(at).unary(method, signal, timeoutMs ?? this.options.timeout, sent, message, contextValues))
        .catch((thrown: unknown) => {
          signal?.throwIfAborted();
          return { failed: judge(thrown) };
        });
      if (!("failed" in failed)) {
        return failed;
      }
      if (failed.failed instanceof Refused) {
        throw failed.failed;
      }
      this.leave(at);
      await patience.spend(failed.failed, requestId, signal);
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const sent = await headers(this.options, header);
    return this.route(this.at).stream(method, signal, timeoutMs, sent, input, contextValues);
  }

  private route(at: number): Transport {
    return this.routes[at]!;
  }
}

/** The message, with a request id where it takes one and has none. */
function identified<I extends DescMessage>(schema: I, input: MessageInitShape<I>): MessageShape<I> {
  const message = create(schema, input);
  if (schema.field["requestId"] === undefined || idOf(message) !== undefined) {
    return message;
  }
  return { ...message, requestId: crypto.randomUUID() };
}

function idOf(message: unknown): string | undefined {
  const id = (message as { readonly requestId?: string }).requestId;
  return id === "" ? undefined : id;
}
