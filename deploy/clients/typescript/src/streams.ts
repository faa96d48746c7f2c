/**
 * Streams that are asked for again, behind what was given out, whenever they break.
 *
 * Invariants: entries come in order, each once; what was given out is the only place from which a stream is asked for again.
 */

import { durationFromMs, type Duration } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";

import { judge, Refused, type Again } from "./errors.js";
import { AuditService } from "./gen/plybook/v1/audit_service_pb.js";
import type { Event } from "./gen/plybook/v1/event_pb.js";
import type { FeedFilter, StreamAllEventsResponse } from "./gen/plybook/v1/feed_pb.js";
import { GameService, type StreamEventsResponse } from "./gen/plybook/v1/game_service_pb.js";
import type { Retrying } from "./transport.js";

/** Something is missing before a frame. */
class Gap extends Error {}

/** What comes behind a cursor: `for await (const item of resuming)`. Leaving the loop, or `close`, ends it. */
export abstract class Resuming<Frame, Item> implements AsyncIterableIterator<Item> {
  private frames: AsyncIterator<Frame> | undefined;
  private cancel = new AbortController();
  private at = 0;
  private patience;
  protected ended = false;

  constructor(protected readonly transport: Retrying) {
    this.patience = transport.patience();
  }

  protected abstract ask(signal: AbortSignal): AsyncIterable<Frame>;
  protected abstract take(frame: Frame): Item | undefined;

  /** How often a server has to show that it is alive. */
  protected get heartbeat(): Duration {
    return durationFromMs(Math.floor(this.transport.options.silence / 3));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    while (!this.ended) {
      let failed: Refused | Again;
      try {
        const frame = await this.frame();
        if (frame === undefined) {
          break;
        }
        const item = this.take(frame);
        this.patience = this.transport.patience();
        if (item === undefined) {
          continue;
        }
        if (this.ended) {
          this.cancel.abort();
        }
        return { done: false, value: item };
      } catch (thrown) {
        failed = thrown instanceof Gap ? { why: thrown.message, notBefore: 0 } : judge(thrown);
      }
      await this.breaks(failed);
    }
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends it, also for whoever waits in it. */
  close(): void {
    this.ended = true;
    this.cancel.abort();
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** The next frame; a stream without one for so long is cancelled. */
  private async frame(): Promise<Frame | undefined> {
    if (this.frames === undefined) {
      this.cancel = new AbortController();
      this.at = this.transport.current;
      this.frames = this.ask(this.cancel.signal)[Symbol.asyncIterator]();
    }
    const watch = setTimeout(() => this.cancel.abort(), this.transport.options.silence);
    try {
      const frame = await this.frames.next();
      return frame.done === true ? undefined : frame.value;
    } finally {
      clearTimeout(watch);
    }
  }

  /** What follows from a failure: another server after a while, or an error and the end. */
  private async breaks(failed: Refused | Again): Promise<void> {
    this.frames = undefined;
    this.cancel.abort();
    if (this.ended) {
      return;
    }
    if (failed instanceof Refused) {
      this.ended = true;
      throw failed;
    }
    this.transport.leave(this.at);
    try {
      await this.patience.spend(failed);
    } catch (thrown) {
      this.ended = true;
      throw thrown;
    }
  }
}

/** The entries of one game after a cursor, until the game is closed. */
export class Events extends Resuming<StreamEventsResponse, Event> {
  constructor(
    transport: Retrying,
    readonly gameId: string,
    private last: bigint,
  ) {
    super(transport);
  }

  /** The last entry given out: where another cursor would go on. */
  get lastSeq(): bigint {
    return this.last;
  }

  protected override ask(signal: AbortSignal): AsyncIterable<StreamEventsResponse> {
    const request = { gameId: this.gameId, afterSeq: this.last, heartbeatInterval: this.heartbeat };
    return createClient(GameService, this.transport).streamEvents(request, { signal });
  }

  protected override take({ frame }: StreamEventsResponse): Event | undefined {
    if (frame.case !== "event" || frame.value.seq <= this.last) {
      return undefined;
    }
    if (frame.value.seq > this.last + 1n) {
      throw new Gap(`entry ${frame.value.seq} came after ${this.last}`);
    }
    this.last = frame.value.seq;
    // Nothing follows the entry that reveals the seed.
    this.ended = frame.value.revealedSeed.length > 0;
    return frame.value;
  }
}

/** Where a feed begins, and what it is of. */
export interface FeedStart {
  /** Go on behind the frame that had this token, which is of the same filter. */
  readonly resumeToken?: string;
  /** Begin with what is stored from now on, where there is no token. */
  readonly fromNow?: boolean;
  readonly filter?: FeedFilter;
  /** End once caught up. */
  readonly stopAtHead?: boolean;
}

/** Every entry of the tenant that fits a filter. Keep `resumeToken` once you have dealt with an entry. */
export class Feed extends Resuming<StreamAllEventsResponse, Event> {
  private token: string;

  constructor(
    transport: Retrying,
    private readonly start: FeedStart,
  ) {
    super(transport);
    this.token = start.resumeToken ?? "";
  }

  /** Where another feed with the same filter would go on. */
  get resumeToken(): string {
    return this.token;
  }

  protected override ask(signal: AbortSignal): AsyncIterable<StreamAllEventsResponse> {
    const { filter, fromNow = false, stopAtHead = false } = this.start;
    const request = {
      resumeToken: this.token,
      fromNow: fromNow && this.token === "",
      stopAtHead,
      heartbeatInterval: this.heartbeat,
      ...(filter === undefined ? {} : { filter }),
    };
    return createClient(AuditService, this.transport).streamAllEvents(request, { signal });
  }

  protected override take({ frame, resumeToken }: StreamAllEventsResponse): Event | undefined {
    this.token = resumeToken;
    return frame.case === "event" ? frame.value : undefined;
  }
}
