import { createHash } from "node:crypto";

/** Facts about the work that a model is given besides the conversation, in the order of the system prompt. */
const FACTS = {
  persona: {
    changed: (text: string) => `Your instructions have changed. They are now:\n\n${text}`,
    ended: "Your earlier instructions no longer apply.",
  },
  read_only: { changed: asIs, ended: "Files of this folder may be written again." },
  commands: { changed: asIs, ended: "Commands may be run in this folder now." },
  questions: { changed: asIs, ended: "The user can be asked again." },
  planning: {
    changed: asIs,
    ended: "Planning mode is off: you may change things again, as far as the user permits it.",
  },
  denied_tools: { changed: asIs, ended: "None of your tools is denied any more." },
  instructions: {
    changed: (text: string) => `The repository's own instructions have changed. ${text}`,
    ended: "The repository's own instructions (AGENTS.md) no longer apply.",
  },
  skills: {
    changed: (text: string) => `The skills have changed. ${text}`,
    ended: "There are no skills any more.",
  },
} as const;

export type FactName = keyof typeof FACTS;

/** Texts of the facts that apply now. */
export type Facts = Readonly<Partial<Record<FactName, string>>>;

/** Hashes of the facts that a model knows. */
export type KnownFacts = Readonly<Partial<Record<FactName, string>>>;

/** All texts of each fact that this program may have given a model. */
export type PossibleFacts = Readonly<Record<FactName, readonly string[]>>;

const NAMES = Object.keys(FACTS) as readonly FactName[];

/** Returns the facts as a system prompt; empty if there are none. */
export function promptOf(facts: Facts): string {
  return NAMES.flatMap((name) => facts[name] ?? []).join("\n\n");
}

export function hashesOf(facts: Facts): KnownFacts {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const text = facts[name];
      return text === undefined ? [] : [[name, hashOf(text)]];
    }),
  );
}

/** Returns what has changed since a model was given these facts, as a text for it; null if nothing has. */
export function changesSince(known: KnownFacts, facts: Facts): string | null {
  const changes = NAMES.flatMap((name) => {
    const text = facts[name];
    if (text === undefined) {
      return known[name] === undefined ? [] : [FACTS[name].ended];
    }
    return known[name] === hashOf(text) ? [] : [FACTS[name].changed(text)];
  });
  return changes.length === 0 ? null : changes.join("\n\n");
}

/** Returns the facts of these hashes; null if a hash is of none of the possible texts. */
export function factsBehind(known: KnownFacts, possible: PossibleFacts): Facts | null {
  const found = NAMES.filter((name) => known[name] !== undefined).map(
    (name) => [name, possible[name].find((text) => hashOf(text) === known[name])] as const,
  );
  return found.every(([, text]) => text !== undefined) ? Object.fromEntries(found) : null;
}

/** Reads stored hashes: an import may have any value. */
export function knownFactsIn(value: unknown): KnownFacts {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const hash: unknown =
        typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
      return typeof hash === "string" ? [[name, hash]] : [];
    }),
  );
}

function asIs(text: string): string {
  return text;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
