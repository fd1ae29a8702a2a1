import type { FastifyRequest } from "fastify";

/** A line in which everybody is served once before anybody is served again, however many entries each has. */
export interface FairLine<Entry> {
  readonly length: number;
  /** The one that `next` returns. */
  readonly first: Entry | undefined;
  add(who: string, entry: Entry): void;
  next(): Entry | undefined;
}

/** `size` puts the small entries of one first; else they are served as they came. */
export function createFairLine<Entry>(size: (entry: Entry) => number = () => 0): FairLine<Entry> {
  // whose turn comes first is first
  const waiting = new Map<string, Entry[]>();
  let length = 0;
  return {
    get length() {
      return length;
    },
    get first() {
      const [entries] = waiting.values();
      return entries?.[0];
    },
    add: (who, entry) => {
      const entries = waiting.get(who);
      if (entries === undefined) {
        waiting.set(who, [entry]);
      } else {
        const larger = entries.findIndex((each) => size(each) > size(entry));
        entries.splice(larger === -1 ? entries.length : larger, 0, entry);
      }
      length += 1;
    },
    next: () => {
      const [first] = waiting;
      if (first === undefined) {
        return undefined;
      }
      const [who, entries] = first;
      const entry = entries.shift();
      waiting.delete(who);
      if (entries.length > 0) {
        waiting.set(who, entries);
      }
      length -= 1;
      return entry;
    },
  };
}

/** Whom turns and budgets are shared among: a login, or all that come from one address with the same rights. */
export function whoSends({
  principal: { role },
  login,
  ip,
}: Pick<FastifyRequest, "principal" | "login" | "ip">): string {
  return `${role} ${login?.id ?? ip}`;
}
