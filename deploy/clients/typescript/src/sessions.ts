/**
 * HTTP/2 connections of a Node process.
 *
 * Invariant: a connection that ends never ends the process; whoever waits for an answer on it is told by his own stream.
 */

import { Http2SessionManager } from "@connectrpc/connect-node";

type Request = Parameters<Http2SessionManager["request"]>;
type Stream = Awaited<ReturnType<Http2SessionManager["request"]>>;

/**
 * The manager of `connect-node` destroys an idle connection whose server says that it leaves, and may stop listening before
 * the connection's last error arrives, which Node then throws at the process (connectrpc/connect-es#1768).
 */
export class Sessions extends Http2SessionManager {
  private readonly heard = new WeakSet<object>();

  override async request(...asked: Request): Promise<Stream> {
    const stream = await super.request(...asked);
    const { session } = stream;
    if (session !== undefined && !this.heard.has(session)) {
      this.heard.add(session);
      session.on("error", () => {});
    }
    return stream;
  }
}
