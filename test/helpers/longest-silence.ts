import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two polls, if the machine is fast. */
const POLL_MS = 50;

/**
 * Polls what somebody sees until it matches, and returns for how many milliseconds it stayed the same at most. Polls
 * are counted, not time: on a machine under load they come as late as the program that is watched.
 */
export async function longestSilence(
  see: () => string | Promise<string>,
  end: RegExp,
): Promise<number> {
  let seen = await see();
  let polls = 0;
  let longest = 0;
  while (!end.test(seen)) {
    await sleep(POLL_MS);
    const now = await see();
    polls = now === seen ? polls + 1 : 0;
    longest = Math.max(longest, polls);
    seen = now;
  }
  return longest * POLL_MS;
}
