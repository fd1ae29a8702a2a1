import type { ModelAnswer, SentMessage } from "../../helpers/model-server.ts";

/**
 * What the model does with a message: each list is the calls of one answer; then it answers. `pay` takes
 * effect at once, `buy` and `order` ask before; a sub-agent is given the kind that is named.
 */
const SCRIPTS = {
  plain: [],
  read: [["list_files"]],
  pay: [["pay"]],
  pays: [["pay", "pay"]],
  twice: [["pay"], ["pay"]],
  mixed: [["pay", "list_files"]],
  ask: [["ask_user"]],
  buy: [["buy"]],
  buys: [["buy", "order", "pay"]],
  dialog: [["order"], ["ask_user"]],
  delegate: [["delegate pay"]],
  both: [["delegate buy", "pay"]],
  team: [["delegate dialog", "delegate pays", "ask_user"]],
  deep: [["delegate both"], ["order"]],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>;

export type Kind = keyof typeof SCRIPTS;
export const KINDS = Object.keys(SCRIPTS) as readonly Kind[];

/** A message, as its text says; the tag is different for each message of a person or a parent. */
export interface Scripted {
  readonly tag: string;
  /** Raised when the message is changed before it begins. */
  readonly version: number;
  readonly kind: Kind;
}

export function textOf({ tag, version, kind }: Scripted): string {
  return `${tag} v${version} ${kind}`;
}

export function scriptedIn(text: string): Scripted {
  const [, tag, version, kind] = /^(\S+) v(\d+) (\w+)/.exec(text) ?? [];
  if (tag === undefined || !KINDS.includes(kind as Kind)) {
    throw new Error(`not a message of the torture: ${text}`);
  }
  return { tag, version: Number(version), kind: kind as Kind };
}

/** What sub-agents are asked has a tag that begins with the one of the person's message. */
export function rootTag(tag: string): string {
  return tag.split(".child")[0] ?? tag;
}

/** A request to the model, and what it got. */
export interface Asked {
  readonly index: number;
  readonly node: string;
  readonly tag: string;
  readonly version: number;
  /** Time of the request. */
  readonly at: number;
  /** True if its process had been ended or frozen before. */
  readonly isLate: boolean;
}

/** What the model answers to a request that is the `index`th of all. */
export function answerOf(
  messages: readonly SentMessage[],
  index: number,
  offered: readonly string[],
): { readonly scripted: Scripted; readonly stretch: number; readonly answer: ModelAnswer } {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const scripted = scriptedIn(messages[at]?.content ?? "");
  const { tag, version, kind } = scripted;
  const step = messages.slice(at).filter(({ role }) => role === "assistant").length;
  const script: readonly (readonly string[])[] = SCRIPTS[kind];
  const stretch = script.slice(0, step).filter((calls) => calls.some(mayWait)).length;
  const calls = script[step];
  if (calls === undefined) {
    return { scripted, stretch, answer: { content: `answer ${index} to ${tag} v${version}` } };
  }
  return {
    scripted,
    stretch,
    answer: {
      content: `step ${index} for ${tag} v${version}`,
      toolCalls: calls.map((call, place) => {
        const [wanted = "", kind] = call.split(" ");
        const name = offered.includes(wanted) ? wanted : "list_files";
        const args = argsOf(name, { kind, tag, place: `${step}.${place}` });
        return { id: `c${index}.${place}`, name, arguments: JSON.stringify(args) };
      }),
    },
  };
}

/** True for a call after which another node may continue. */
function mayWait(call: string): boolean {
  return call !== "pay" && call !== "list_files";
}

function argsOf(
  tool: string,
  call: { readonly kind: string | undefined; readonly tag: string; readonly place: string },
): object {
  const what = `${call.tag}/${call.place}`;
  switch (tool) {
    case "delegate":
      return { persona: "assistant", task: `${call.tag}.child${call.place} v1 ${call.kind}` };
    case "ask_user":
      return { question: `ask_user ${what}` };
    case "list_files":
      return { path: "." };
    default:
      return { what };
  }
}

/** The number of the request that an answer was given to; null if it is only the beginning of one. */
export function indexOf(content: string): number | null {
  const index = /^(?:step|answer) (\d+) (?:for|to) \S+ v\d+$/.exec(content)?.[1];
  return index === undefined ? null : Number(index);
}
