/** How a client waits, and who it is. Every wait has an end; all are in milliseconds. */

export interface Options {
  /** For the answer to one attempt; the server hears of it as `grpc-timeout`. */
  readonly timeout: number;
  /** In all, over the attempts of one call; also for a broken stream to come back. */
  readonly patience: number;
  /** Before the second round of attempts; doubled each round. */
  readonly firstPause: number;
  /** At most, between two rounds of attempts. */
  readonly longestPause: number;
  /** Without any frame on a stream, before it counts as broken. Heartbeats come thrice as often. */
  readonly silence: number;
  /** Sent as `authorization: Bearer …`; a function is asked before every attempt, so that a token can be renewed. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Whether it may go to a server that is neither on this machine nor reached through TLS. Whoever is on the way reads it then. */
  readonly tokenInClear?: boolean | undefined;
  /** Is told why something is sent again, and after how long. */
  readonly onAgain?: ((why: string, wait: number) => void) | undefined;
}

export const DEFAULTS: Options = { timeout: 10_000, patience: 30_000, firstPause: 50, longestPause: 2_000, silence: 30_000 };

/** The headers of an attempt. */
export async function headers(options: Options, given?: HeadersInit): Promise<Headers> {
  const all = new Headers(given);
  const token = typeof options.token === "function" ? await options.token() : options.token;
  if (token !== undefined && token !== "") {
    all.set("authorization", `Bearer ${token}`);
  }
  return all;
}
