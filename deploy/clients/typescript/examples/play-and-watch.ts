/**
 * Plays a game of every ruleset and watches it at the same time, whatever happens to the servers meanwhile.
 *
 *     node dist/examples/play-and-watch.js http://127.0.0.1:50051 [--step] [--token TOKEN]
 *
 * With --step it waits for Enter before each move. It ends with an error if a watcher missed an entry or saw one twice.
 */

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import type { Client, Value } from "../src/index.js";
import { connect } from "../src/node.js";

/** A board that is done with quickly; every other ruleset is played as the server describes it. */
const SMALL: Record<string, Record<string, Value>> = { gomoku: { size: 9 }, othello: { size: 6 }, snakes_and_ladders: { size: 30 } };

/** Somebody who watches a game to its end. */
async function watch(client: Client, gameId: string): Promise<number[]> {
  const seen: number[] = [];
  for await (const event of client.events(gameId)) {
    seen.push(Number(event.seq));
  }
  return seen;
}

async function play(client: Client, ruleset: string, step: (prompt: string) => Promise<void>): Promise<void> {
  const { gameId } = await client.newGame(ruleset, ["ann", "bob"], SMALL[ruleset]);
  const watching = watch(client, gameId);
  let moves = 0;
  for (;;) {
    const { head, seat, actions } = await client.legalActions(gameId);
    if (seat === undefined) {
      break;
    }
    // Any choice will do, if it is the same in every run.
    const { notation } = actions[(moves * 7) % actions.length]!;
    await step(`${ruleset}: ${notation}? `);
    await client.play(gameId, { seat, notation, at: head });
    moves += 1;
  }
  const game = await client.game(gameId);
  const entries = Number(game.seq);
  assert.deepEqual(await watching, Array.from({ length: entries }, (_, n) => n + 1));
  assert.match(await client.book(gameId), new RegExp(`\\nend ${entries} `));
  const winners = game.outcome?.winners.join(" and ") || "nobody";
  console.log(`${ruleset}: ${moves} moves, ${entries} entries, won by ${winners}`);
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { step: { type: "boolean" }, token: { type: "string" } } });
const keyboard = createInterface({ input: process.stdin });
const typed = keyboard[Symbol.asyncIterator]();
const step = async (prompt: string): Promise<void> => {
  if (values.step === true) {
    process.stdout.write(prompt);
    await typed.next();
  }
};
const client = connect(positionals[0] ?? "http://127.0.0.1:50051", {
  token: values.token,
  onAgain: (why, wait) => console.error(`again in ${Math.round(wait)} ms: ${why}`),
});
const { rulesets } = await client.games.listRulesets({});
for (const ruleset of rulesets.filter((ruleset) => ruleset.isDefault)) {
  await play(client, ruleset.id, step);
}
// Idle connections would keep the process for a while.
process.exit(0);
