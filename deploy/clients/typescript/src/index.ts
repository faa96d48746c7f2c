/**
 * What a TypeScript backend or a browser uses to speak with Plybook.
 *
 * Invariants: a request keeps one request id through all its retries, so that it is answered once however often it is sent; no
 * server that said when to come back is asked before; a stream goes on by itself after a broken connection, without gap or
 * repeat.
 */

export { Client, param, type Value } from "./client.js";
export { Refused, Unavailable } from "./errors.js";
export { DEFAULTS, type Options } from "./options.js";
export { Events, Feed, type FeedStart } from "./streams.js";
