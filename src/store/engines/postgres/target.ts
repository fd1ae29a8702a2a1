/** Answer of a server to a statement with `SERVER_ROLE`. */
export interface ServerRole {
  readonly in_recovery: boolean;
  readonly read_only: string;
}

export const SERVER_ROLE = `pg_is_in_recovery() AS in_recovery,
  current_setting('transaction_read_only') AS read_only`;

/** Which servers of an address may be used, by the names that libpq gives them. */
const RULES = {
  any: { accepts: () => true, writes: false, words: "can be used" },
  "read-write": {
    accepts: ({ in_recovery, read_only }) => !in_recovery && read_only === "off",
    writes: true,
    words: "accepts writes",
  },
  primary: {
    accepts: ({ in_recovery }) => !in_recovery,
    writes: true,
    words: "is the primary one",
  },
  "read-only": {
    accepts: ({ in_recovery, read_only }) => in_recovery || read_only === "on",
    writes: false,
    words: "is read-only",
  },
  standby: {
    accepts: ({ in_recovery }) => in_recovery,
    writes: false,
    words: "is a standby",
  },
} as const satisfies Readonly<Record<string, TargetRule>>;

interface TargetRule {
  readonly accepts: (role: ServerRole) => boolean;
  /** True if a server that refuses writes is not the right one. */
  readonly writes: boolean;
  /** In the sentence on a failure: no server "is reachable and …". */
  readonly words: string;
}

export type Target = keyof typeof RULES;
export const TARGETS = Object.keys(RULES);

export function isTarget(text: string): text is Target {
  return Object.hasOwn(RULES, text);
}

export function ruleOf(target: Target): TargetRule {
  return RULES[target];
}
