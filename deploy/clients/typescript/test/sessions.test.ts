/** Connections that a server ends: `npm test`. */

import assert from "node:assert/strict";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { connectNodeAdapter } from "@connectrpc/connect-node";

import { GameService } from "../src/gen/plybook/v1/game_service_pb.js";
import { connect } from "../src/node.js";

test("a server that leaves an idle connection ends no process", async () => {
  const server = createServer(
    connectNodeAdapter({
      routes: ({ service }) => service(GameService, { makeMove: (request) => ({ event: { seq: request.expectedSeq! + 1n } }) }),
    }),
  );
  server.on("session", (session) => session.on("stream", (stream) => stream.once("close", () => session.goaway())));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for (let at = 0n; at < 300n; at += 1n) {
    const event = await client.play("g", { seat: 0, notation: "b2", at });
    assert.equal(event.seq, at + 1n);
    // The next call comes about when the server's word does, now before it and now after it.
    for (let turns = at % 10n; turns > 0n; turns -= 1n) {
      await new Promise(setImmediate);
    }
  }
  server.close();
});
