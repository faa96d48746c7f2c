/**
 * Watches a game as a browser does, by gRPC-Web over `fetch`, whatever happens to the servers meanwhile.
 *
 *     node dist/examples/watch.js http://127.0.0.1:50051 GAME
 *
 * The server is one that was started with `--grpc-web`.
 */

import { parseArgs } from "node:util";

import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { Client } from "../src/index.js";

const { positionals } = parseArgs({ allowPositionals: true });
const [baseUrl, gameId] = positionals;
if (baseUrl === undefined || gameId === undefined) {
  throw new Error("watch.js URL GAME");
}
const client = new Client([createGrpcWebTransport({ baseUrl })], {
  onAgain: (why, wait) => console.error(`again in ${Math.round(wait)} ms: ${why}`),
});
for await (const event of client.events(gameId)) {
  console.log(`${event.seq} ${event.line.split("\n")[0]}`);
}
