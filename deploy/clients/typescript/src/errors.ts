/**
 * What a call comes back with when it is not an answer.
 *
 * Invariant: a refusal is final, the same request will be refused again; everything else may be sent again with the same
 * request id.
 */

import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** The server said no. */
export class Refused extends Error {
  override readonly name = "Refused";

  constructor(
    /** A name of ErrorReason without its prefix, such as `ILLEGAL_MOVE`; empty where a refusal is not Plybook's own. */
    readonly reason: string,
    readonly code: Code,
    message: string,
    /** What the caller needs to go on. */
    readonly metadata: Readonly<Record<string, string>>,
    /** Fields of the request that are wrong, and why. */
    readonly fields: readonly { readonly field: string; readonly why: string }[],
  ) {
    super(`${reason === "" ? Code[code] : reason}: ${message}`);
  }
}

/** No server answered while patience lasted. What was asked may have been done: ask again with the same request id. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";

  constructor(
    readonly attempts: number,
    readonly waited: number,
    readonly last: string,
    readonly requestId: string | undefined,
  ) {
    super(`no answer after ${attempts} attempts in ${waited} ms: ${last}`);
  }
}

/** It may be sent again, not before so many milliseconds have passed. */
export interface Again {
  readonly why: string;
  readonly notBefore: number;
}

/** Plybook's own statuses carry its reason. One without comes from the way there. */
export function judge(thrown: unknown): Refused | Again {
  const error = ConnectError.from(thrown);
  const info = error.findDetails(ErrorInfoSchema).find((info) => info.domain === "plybook");
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  const notBefore = delay === undefined ? undefined : Number(delay.seconds) * 1_000 + delay.nanos / 1e6;
  const passes =
    [Code.Unavailable, Code.DeadlineExceeded].includes(error.code) ||
    (info === undefined && [Code.Canceled, Code.Unknown, Code.Internal, Code.Aborted].includes(error.code));
  // A limit that tells when to come back is one of what goes on at once, or in a while.
  const busy = error.code === Code.ResourceExhausted && info !== undefined && notBefore !== undefined;
  if (passes || busy) {
    return { why: error.message, notBefore: notBefore ?? 0 };
  }
  const violations = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
  const fields = violations.map(({ field, description }) => ({ field, why: description }));
  return new Refused(info?.reason ?? "", error.code, error.rawMessage, info?.metadata ?? {}, fields);
}
