/**
 * How long a call goes on trying.
 *
 * Invariant: the pauses of one call sum up to its patience at most, and no server that said when to come back is asked before.
 */

import { Unavailable, type Again } from "./errors.js";
import type { Options } from "./options.js";

/** The attempts of one call over so many servers. */
export class Patience {
  private readonly began = performance.now();
  private pause: number;
  private attempts = 0;
  private notBefore = 0;

  constructor(
    private readonly options: Options,
    private readonly routes: number,
  ) {
    this.pause = options.firstPause;
  }

  /** Counts a failed attempt, and waits before the next; throws Unavailable where there is none. */
  async spend(failed: Again, requestId?: string, signal?: AbortSignal): Promise<void> {
    this.attempts += 1;
    this.notBefore = Math.max(this.notBefore, failed.notBefore);
    let wait = 0;
    // The other servers are tried at once; only a whole round without an answer is a reason to wait.
    if (this.attempts % this.routes === 0) {
      wait = Math.max(this.pause * (0.5 + Math.random() / 2), this.notBefore);
      this.pause = Math.min(this.pause * 2, this.options.longestPause);
      this.notBefore = 0;
    }
    const waited = Math.round(performance.now() - this.began);
    if (waited + wait > this.options.patience) {
      throw new Unavailable(this.attempts, waited, failed.why, requestId);
    }
    this.options.onAgain?.(failed.why, wait);
    await slept(wait, signal);
  }
}

/** Timers may be a millisecond early. */
function slept(wait: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, gone) => {
    const leave = () => {
      clearTimeout(timer);
      gone(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", leave);
        done();
      },
      wait === 0 ? 0 : Math.ceil(wait) + 1,
    );
    signal?.addEventListener("abort", leave, { once: true });
  });
}
