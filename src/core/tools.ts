import { RepriseError } from "./errors.ts";

/**
 * Effects of a call. `reads`: nothing changes. `changes`: something may change. `runs`: a program runs. `asks`: it
 * turns to a person or a sub-agent, and changes nothing of the user's itself.
 */
export const TOOL_EFFECTS = ["reads", "changes", "runs", "asks"] as const;
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

export function isToolEffect(value: unknown): value is ToolEffect {
  return TOOL_EFFECTS.some((effect) => effect === value);
}

/** A tool of an agent, as permissions, personas and screens know it. */
export interface Tool {
  /** Letters, digits, `_` and `-`, at most 64: all providers accept that. */
  readonly name: string;
  readonly effect: ToolEffect;
  /** True if running a call twice does no more than running it once. */
  readonly repeatable: boolean;
  /** Names in its calls that the pattern of a rule is compared with. Without it, a rule takes no pattern. */
  readonly about?: "files" | "commands";
  /** True for a tool on files that reads no content of them. */
  readonly readsNamesOnly?: true;
  /** Tools that would do the same with several calls: what denies those denies this one. */
  readonly composedOf?: readonly Tool[];
  /** True for a tool that the work itself needs: no persona lists it or goes without it. */
  readonly isAssigned?: true;
  /**
   * Returns what a call is about, for a person: a command, paths, a search, a task; null for arguments that do not say
   * it. A model may send any JSON. It is shown on one line, cut after 1,000 characters; without it, the arguments are.
   */
  readonly subject?: (args: unknown) => string | null;
}

/** True for a tool that changes nothing of the user's itself. */
export function isHarmless({ effect }: Pick<Tool, "effect">): boolean {
  return effect === "reads" || effect === "asks";
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** True for a name that all providers accept. */
export function isToolName(name: string): boolean {
  return NAME.test(name);
}

/** Pattern of the name of a server: up to 32 characters, without two `_` together, which end it in `server__tool`. */
export const SERVER_NAME = "^(?=.{1,32}$)[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*$";

/** True for a name as tools of servers have it: `server__tool`. The server may be absent. */
export function isServerTool(name: string): boolean {
  return isToolName(name) && /^.+?__./.test(name);
}

/** All tools that an exchange can call, each name once. */
export class ToolSet implements Iterable<Tool> {
  readonly #tools: ReadonlyMap<string, Tool>;

  /** Error codes: `invalid_usage` for a name that is there twice, or that a provider would refuse. */
  constructor(tools: Iterable<Tool>) {
    const byName = new Map<string, Tool>();
    for (const tool of tools) {
      if (!isToolName(tool.name)) {
        throw new RepriseError(
          "invalid_usage",
          "The name of a tool is 1 to 64 letters, digits, `_` and `-`. Rename the tool.",
        );
      }
      if (byName.has(tool.name)) {
        throw new RepriseError(
          "invalid_usage",
          `There are two tools named ${tool.name}. Rename one of them.`,
        );
      }
      byName.set(tool.name, tool);
    }
    this.#tools = byName;
  }

  [Symbol.iterator](): Iterator<Tool> {
    return this.#tools.values();
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Returns the tool of a name. A tool that nobody declared may change something, once more at each call. */
  get(name: string): Tool {
    return this.#tools.get(name) ?? { name, effect: "changes", repeatable: false };
  }

  /** Returns these tools and others. Error codes: `invalid_usage`, as for a new set. */
  with(tools: Iterable<Tool>): ToolSet {
    return new ToolSet([...this, ...tools]);
  }
}
