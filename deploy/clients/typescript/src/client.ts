/** A client of one or several servers of one database, and what a service needs of them day by day. */

import { create } from "@bufbuild/protobuf";
import { createClient, type Client as Calls, type Transport } from "@connectrpc/connect";

import { judge, Refused } from "./errors.js";
import { AuditService } from "./gen/plybook/v1/audit_service_pb.js";
import type { Event } from "./gen/plybook/v1/event_pb.js";
import { GameService, type Game, type LegalAction } from "./gen/plybook/v1/game_service_pb.js";
import { ParamValueSchema, type ParamValue } from "./gen/plybook/v1/ruleset_pb.js";
import { DEFAULTS, type Options } from "./options.js";
import { Events, Feed, type FeedStart } from "./streams.js";
import { Retrying } from "./transport.js";

/** A parameter's value: a flag, a number, a word, or numbers. */
export type Value = boolean | number | bigint | string | readonly (number | bigint)[];

/** A parameter as the contract has it. */
export function param(value: Value): ParamValue {
  switch (typeof value) {
    case "boolean":
      return create(ParamValueSchema, { value: { case: "boolValue", value } });
    case "string":
      return create(ParamValueSchema, { value: { case: "stringValue", value } });
    case "number":
    case "bigint":
      return create(ParamValueSchema, { value: { case: "intValue", value: BigInt(value) } });
    default:
      return create(ParamValueSchema, { value: { case: "intList", value: { values: value.map(BigInt) } } });
  }
}

/** Speaks with servers over transports, one each: `connect` of `plybook-client/node` makes them, or a browser's gRPC-Web. */
export class Client {
  /** Every call of the contract, with the same promises. */
  readonly games: Calls<typeof GameService>;
  /** The same of whoever looks at many games. */
  readonly audit: Calls<typeof AuditService>;
  private readonly transport: Retrying;

  constructor(transports: readonly Transport[], options: Partial<Options> = {}) {
    this.transport = new Retrying(transports, { ...DEFAULTS, ...options });
    this.games = createClient(GameService, this.transport);
    this.audit = createClient(AuditService, this.transport);
  }

  /** Creates a game. Players' ids stay in the book for ever: pseudonyms, never names. */
  async newGame(ruleset: string, players: readonly string[], params: Readonly<Record<string, Value>> = {}, requestId = ""): Promise<Game> {
    const values = Object.entries(params).map(([name, value]) => [name, param(value)] as const);
    const seats = players.map((playerId) => ({ playerId }));
    const { game } = await this.games.createGame({ requestId, seats, ruleset: { id: ruleset, params: Object.fromEntries(values) } });
    return present(game);
  }

  /** Makes a move that was decided on entry `at`. */
  async play(gameId: string, move: { seat: number; notation: string; at: bigint; requestId?: string }): Promise<Event> {
    const { seat, notation, at, requestId = "" } = move;
    const action = { shape: { case: "notation" as const, value: notation } };
    const { event } = await this.games.makeMove({ requestId, gameId, expectedSeq: at, seat, action });
    return present(event);
  }

  /** The head, the seat to move (nobody once the game is over), and all that it may do. */
  async legalActions(gameId: string): Promise<{ head: bigint; seat: number | undefined; actions: LegalAction[] }> {
    const actions: LegalAction[] = [];
    for (let pageToken = ""; ; ) {
      const page = await this.games.listLegalActions({ gameId, pageToken });
      actions.push(...page.actions);
      pageToken = page.nextPageToken;
      if (pageToken === "") {
        return { head: page.headSeq, seat: page.seatToMove, actions };
      }
    }
  }

  /** Reads a game at its head, or at an earlier entry. */
  async game(gameId: string, atSeq?: bigint): Promise<Game> {
    const { game } = await this.games.getGame(atSeq === undefined ? { gameId } : { gameId, atSeq });
    return present(game);
  }

  /** Follows a game from the entry after `afterSeq` until it is closed. */
  events(gameId: string, afterSeq = 0n): Events {
    return new Events(this.transport, gameId, afterSeq);
  }

  /** Follows every game of the tenant. */
  feed(start: FeedStart = {}): Feed {
    return new Feed(this.transport, start);
  }

  /** A game as a `.ply` file. */
  async book(gameId: string): Promise<string> {
    const patience = this.transport.patience();
    for (;;) {
      const at = this.transport.current;
      try {
        const [text, decoder] = [[] as string[], new TextDecoder()];
        for await (const { chunk } of this.audit.getBook({ gameId }, { timeoutMs: this.transport.options.timeout })) {
          text.push(decoder.decode(chunk, { stream: true }));
        }
        return text.join("") + decoder.decode();
      } catch (thrown) {
        const failed = judge(thrown);
        if (failed instanceof Refused) {
          throw failed;
        }
        this.transport.leave(at);
        await patience.spend(failed);
      }
    }
  }
}

function present<T>(answered: T | undefined): T {
  if (answered === undefined) {
    throw new Error("the server's answer is not of this contract");
  }
  return answered;
}
