/** The promises, against servers that fail as they are told to: `npm test`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createRouterTransport, type Transport } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import { AuditService } from "../src/gen/plybook/v1/audit_service_pb.js";
import { GameService } from "../src/gen/plybook/v1/game_service_pb.js";
import { Client, param, Refused, Unavailable, type Options } from "../src/index.js";
import { connect } from "../src/node.js";

const PATIENT: Partial<Options> = { patience: 300_000 };

function refusal(code: Code, reason: string, retry?: number, domain = "plybook"): ConnectError {
  const details = [{ desc: ErrorInfoSchema, value: { reason, domain, metadata: { head_seq: "7" } } }];
  const later = { desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retry ?? 0) } };
  return new ConnectError("no", code, undefined, retry === undefined ? details : [...details, later]);
}

const DRAINING = refusal(Code.Unavailable, "SERVER_DRAINING", 0);

/** Frames that a stream sends, and how it ends. */
type Script<F> = (signal: AbortSignal) => AsyncIterable<F>;

interface Asked {
  readonly at: number;
  readonly request: any;
  readonly token: string | null;
}

/** A server that answers move after move, and stream after stream, as the scripts say; it remembers what it was asked. */
function served(moves: (ConnectError | number)[], streams: Script<any>[] = []): { transport: Transport; asked: Asked[] } {
  const asked: Asked[] = [];
  const heard = (request: unknown, header: Headers) => asked.push({ at: performance.now(), request, token: header.get("authorization") });
  const transport = createRouterTransport(({ service }) => {
    const stream = (request: unknown, { requestHeader, signal }: { requestHeader: Headers; signal: AbortSignal }) => {
      heard(request, requestHeader);
      return streams.shift()!(signal);
    };
    service(GameService, {
      makeMove: (request, { requestHeader }) => {
        heard(request, requestHeader);
        const step = moves.shift();
        if (typeof step === "number") {
          return { event: { seq: BigInt(step) } };
        }
        throw step;
      },
      streamEvents: stream,
    });
    service(AuditService, { streamAllEvents: stream });
  });
  return { transport, asked };
}

const entries = (seqs: number[], then?: ConnectError, last = 0): Script<unknown> =>
  async function* () {
    for (const seq of seqs) {
      yield { frame: { case: "event", value: { seq: BigInt(seq), revealedSeed: new Uint8Array(seq === last ? 32 : 0) } } };
    }
    if (then !== undefined) {
      throw then;
    }
  };

const play = (client: Client, requestId = "") => client.play("g", { seat: 0, notation: "b2", at: 1n, requestId });

async function seqs(client: Client): Promise<number[]> {
  const seen: number[] = [];
  for await (const event of client.events("g")) {
    seen.push(Number(event.seq));
  }
  return seen;
}

test("one request id is kept, and nobody is asked before his time", async () => {
  const moves = [refusal(Code.Unavailable, "STORE_UNAVAILABLE", 400), refusal(Code.ResourceExhausted, "RATE_LIMITED", 300), 2];
  const { transport, asked } = served(moves);
  assert.equal((await play(new Client([transport], PATIENT))).seq, 2n);
  const [first, second, third] = asked as [Asked, Asked, Asked];
  assert.notEqual(first.request.requestId, "");
  assert.deepEqual([first.request, second.request], [second.request, third.request]);
  assert.ok(second.at - first.at >= 400 && third.at - second.at >= 300);
});

test("a given id is sent as it is", async () => {
  const { transport, asked } = served([2]);
  await play(new Client([transport]), "mine");
  assert.equal(asked[0]?.request.requestId, "mine");
});

test("another server is asked at once", async () => {
  const [one, other] = [served([refusal(Code.Unavailable, "SERVER_DRAINING", 3_600_000)]), served([2])];
  assert.equal((await play(new Client([one.transport, other.transport], PATIENT))).seq, 2n);
});

test("a refusal is final and has its type", async () => {
  const illegal = refusal(Code.FailedPrecondition, "ILLEGAL_MOVE");
  illegal.details.push({ desc: BadRequestSchema, value: { fieldViolations: [{ field: "seat", description: "is missing" }] } });
  const { transport, asked } = served([illegal, refusal(Code.ResourceExhausted, "X", 0, "elsewhere")]);
  const client = new Client([transport], PATIENT);
  await assert.rejects(play(client), (thrown) => {
    assert.ok(thrown instanceof Refused);
    assert.equal(thrown.message, "ILLEGAL_MOVE: no");
    assert.deepEqual([thrown.reason, thrown.metadata["head_seq"]], ["ILLEGAL_MOVE", "7"]);
    assert.deepEqual(thrown.fields, [{ field: "seat", why: "is missing" }]);
    return true;
  });
  await assert.rejects(play(client), (thrown) => thrown instanceof Refused && thrown.reason === "");
  assert.equal(asked.length, 2);
});

test("patience ends, and tells the id", async () => {
  const { transport, asked } = served([refusal(Code.Unavailable, "STORE_UNAVAILABLE", 900_000)]);
  await assert.rejects(play(new Client([transport], PATIENT)), (thrown) => {
    assert.ok(thrown instanceof Unavailable);
    assert.deepEqual([thrown.requestId, thrown.attempts], [asked[0]?.request.requestId, 1]);
    return true;
  });
});

test("a token is asked for before every attempt", async () => {
  const { transport, asked } = served([DRAINING, 2], [entries([1], undefined, 1)]);
  const tokens = ["a", "b", "c"];
  const client = new Client([transport], { ...PATIENT, token: async () => tokens.shift()! });
  await play(client);
  await seqs(client);
  assert.deepEqual(
    asked.map(({ token }) => token),
    ["Bearer a", "Bearer b", "Bearer c"],
  );
});

test("a broken stream goes on behind what was given out", async () => {
  // Broken, going back with a gap, broken, and ended by its last entry.
  const { transport, asked } = served([], [entries([1, 2], DRAINING), entries([2, 3, 5]), entries([4], DRAINING), entries([5, 6], undefined, 6)]);
  assert.deepEqual(await seqs(new Client([transport], PATIENT)), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(
    asked.map(({ request }) => request.afterSeq),
    [0n, 2n, 3n, 4n],
  );
});

test("a stream that falls silent is opened again", async () => {
  const silent: Script<unknown> = async function* (signal) {
    yield* entries([1])(signal);
    await sleep(300_000, undefined, { signal });
  };
  const { transport } = served([], [silent, entries([2], undefined, 2)]);
  assert.deepEqual(await seqs(new Client([transport], { ...PATIENT, silence: 500 })), [1, 2]);
});

test("a stream is ended by whoever waits in it no more", async () => {
  let opened = () => {};
  const open = new Promise<void>((done) => (opened = done));
  const silent: Script<unknown> = async function* (signal) {
    opened();
    await sleep(300_000, undefined, { signal });
  };
  const events = new Client([served([], [silent]).transport], PATIENT).events("g");
  const waiting = events.next();
  await open;
  events.close();
  assert.equal((await waiting).done, true);
});

test("a feed goes on behind its token", async () => {
  const frames = (tokens: string[], then?: ConnectError): Script<unknown> =>
    async function* () {
      for (const resumeToken of tokens) {
        yield { resumeToken, frame: resumeToken.startsWith("-") ? { case: undefined } : { case: "event", value: { line: resumeToken } } };
      }
      if (then !== undefined) {
        throw then;
      }
    };
  const { transport, asked } = served([], [frames(["a", "-b"], DRAINING), frames(["c"])]);
  const feed = new Client([transport], PATIENT).feed({ fromNow: true, stopAtHead: true });
  const lines: string[] = [];
  for await (const event of feed) {
    lines.push(event.line);
  }
  assert.deepEqual([lines, feed.resumeToken], [["a", "c"], "c"]);
  assert.deepEqual(
    asked.map(({ request }) => [request.resumeToken, request.fromNow]),
    [
      ["", true],
      ["-b", false],
    ],
  );
});

test("parameters have their types, and addresses are read", () => {
  assert.deepEqual(
    [true, 3, 4n, "run", [3, 22]].map((value) => param(value).value.case),
    ["boolValue", "intValue", "intValue", "stringValue", "intList"],
  );
  for (const bad of ["", "127.0.0.1:50051", "ftp://a:1", "http://", "http://a,"]) {
    assert.throws(() => connect(bad), /is no address of a server/, bad);
  }
});

test("a token leaves in clear only where its owner says so", () => {
  const token = "swordfish";
  for (const here of ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://games.example:1"]) {
    connect(here, { token });
  }
  assert.throws(() => connect("http://games.example:1", { token }), /would cross the network in clear/);
  connect("http://games.example:1", { token, tokenInClear: true });
});
