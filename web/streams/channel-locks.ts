import type { Channel, Clock } from "./host.ts";
import type { Held, Locks } from "./locks.ts";

/** Who wants a lock, and who holds it: each request has an id, and the lowest one wins. */
interface LockNote {
  readonly kind: "wanted" | "held" | "released";
  readonly name: string;
  readonly id: string;
}

interface Request extends Omit<LockNote, "kind"> {
  readonly since: number;
  readonly grant: () => void;
  /** Null until it is granted. */
  held: AbortController | null;
}

const BEAT_MS = 500;
/** A holder that is silent for so long is gone. */
const SILENT_MS = 3000;
/** A request that nobody refuses for so long is granted. */
const UNANSWERED_MS = 400;
/** A request whose tab is silent for so long is not waited for. */
const FORGOTTEN_MS = 1500;

/**
 * Locks over a channel, for contexts in which the browser has none. Two tabs may hold one for a moment, until each
 * hears of the other; the one with the higher id then loses it.
 */
export function channelLocks(channel: Channel, clock: Clock, newId: () => string): Locks {
  const requests = new Set<Request>();
  const holders = new Map<string, { readonly id: string; readonly at: number }>();
  /** When each request of another tab was heard of last, by name and id. */
  const rivals = new Map<string, Map<string, number>>();
  let endBeat: (() => void) | null = null;

  const say = (kind: LockNote["kind"], { name, id }: Pick<LockNote, "name" | "id">): void =>
    channel.post({ kind, name, id });
  const hasLowerRival = ({ name, id }: Request): boolean =>
    [...(rivals.get(name) ?? [])].some(
      ([rival, at]) => rival < id && clock.now() - at < FORGOTTEN_MS,
    ) || [...requests].some((other) => other.name === name && other.id < id);
  const mayHold = (request: Request): boolean => {
    const holder = holders.get(request.name);
    const isFree =
      holder === undefined
        ? clock.now() - request.since >= UNANSWERED_MS
        : clock.now() - holder.at >= SILENT_MS;
    return isFree && !hasLowerRival(request);
  };
  const decide = (): void => {
    for (const request of requests) {
      if (request.held === null && mayHold(request)) {
        request.held = new AbortController();
        holders.set(request.name, { id: request.id, at: clock.now() });
        say("held", request);
        request.grant();
      }
    }
  };
  const beat = (): void => {
    for (const request of requests) {
      if (request.held !== null) {
        holders.set(request.name, { id: request.id, at: clock.now() });
      }
      say(request.held === null ? "wanted" : "held", request);
    }
    decide();
  };
  const heldOf = (name: string): Request | undefined =>
    [...requests].find((request) => request.name === name && request.held !== null);
  const forget = (request: Request): void => {
    requests.delete(request);
    if (requests.size === 0) {
      endBeat?.();
      endBeat = null;
    }
  };
  const hear = (raw: unknown): void => {
    const note = readNote(raw);
    if (note === null) {
      return;
    }
    const { kind, name, id } = note;
    const mine = heldOf(name);
    if (kind === "wanted") {
      rivals.set(name, (rivals.get(name) ?? new Map()).set(id, clock.now()));
      if (mine !== undefined) {
        say("held", mine);
      }
      return;
    }
    rivals.get(name)?.delete(id);
    if (kind === "held") {
      if (mine !== undefined && mine.id < id) {
        say("held", mine);
        return;
      }
      holders.set(name, { id, at: clock.now() });
      if (mine !== undefined) {
        forget(mine);
        mine.held?.abort();
      }
    } else if (holders.get(name)?.id === id) {
      holders.delete(name);
    }
    decide();
  };
  channel.onMessage(hear);

  const remove = (request: Request): void => {
    if (!requests.has(request)) {
      return;
    }
    forget(request);
    say("released", request);
    if (holders.get(request.name)?.id === request.id) {
      holders.delete(request.name);
    }
    decide();
  };

  const hold: Locks["hold"] = (name, signal) => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Held>();
    const refuse = (): void => {
      remove(request);
      reject(signal.reason);
    };
    const request: Request = {
      name,
      id: newId(),
      since: clock.now(),
      held: null,
      grant: () => {
        signal.removeEventListener("abort", refuse);
        const lost = request.held?.signal ?? signal;
        resolve({ lost, release: () => remove(request) });
      },
    };
    signal.addEventListener("abort", refuse, { once: true });
    requests.add(request);
    endBeat ??= clock.every(BEAT_MS, beat);
    say("wanted", request);
    return promise;
  };
  // a silent holder is replaced anyway
  return { hold, steal: hold };
}

/** Null for what no version of this page says. */
function readNote(raw: unknown): LockNote | null {
  const { kind, name, id } = Object(raw) as Readonly<Record<string, unknown>>;
  const isKind = kind === "wanted" || kind === "held" || kind === "released";
  return isKind && typeof name === "string" && typeof id === "string" ? { kind, name, id } : null;
}
