/** Connections of a Node process. */

import type { SecureClientSessionOptions } from "node:http2";
import { isIPv4 } from "node:net";

import { createGrpcTransport } from "@connectrpc/connect-node";

import { Client } from "./client.js";
import type { Options } from "./options.js";
import { Sessions } from "./sessions.js";

/** What `https://` servers are checked against, and shown. */
export type Tls = Pick<SecureClientSessionOptions, "ca" | "cert" | "key">;

/** A client of `http://host:port`, or of several, separated by commas. Connections are made when they are first used. */
export function connect(addresses: string, options: Partial<Options> = {}, tls: Tls = {}): Client {
  const urls = addresses.split(",").map((address) => {
    const url = URL.canParse(address.trim()) ? new URL(address.trim()) : undefined;
    if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
      throw new Error(`${JSON.stringify(address)} is no address of a server: it begins with http:// or https:// and a host`);
    }
    if (url.protocol === "http:" && options.token !== undefined && options.tokenInClear !== true && !isHere(url.hostname)) {
      throw new Error(`${JSON.stringify(address)}: the token would cross the network in clear, where https:// would hide it`);
    }
    return url;
  });
  const transport = (url: URL) =>
    createGrpcTransport({
      baseUrl: url.origin,
      sessionManager: new Sessions(url.origin, { pingIntervalMs: 20_000 }, tls),
      readMaxBytes: 64 << 20,
    });
  return new Client(urls.map(transport), options);
}

function isHere(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}
