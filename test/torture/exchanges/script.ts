import type { ModelAnswer, SentMessage } from "../../helpers/model-server.ts";

/** What the model does with a message: each list is the calls of one answer; then it answers. */
const SCRIPTS = {
  plain: [],
  read: [["list_files"]],
  pay: [["pay"]],
  pays: [["pay", "pay"]],
  twice: [["pay"], ["pay"]],
  mixed: [["pay", "list_files"]],
  delegate: [["delegate"]],
  both: [["delegate", "pay"]],
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

/** The tag of what a sub-agent is asked while it works for a message. */
function childTag(tag: string): string {
  return `${tag}.child`;
}

/** A request to the model, and what it got. */
export interface Asked {
  readonly index: number;
  readonly node: string;
  readonly tag: string;
  readonly version: number;
}

/** What the model answers to a request that is the `index`th of all. */
export function answerOf(
  messages: readonly SentMessage[],
  index: number,
  offered: readonly string[],
): { readonly scripted: Scripted; readonly answer: ModelAnswer } {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const scripted = scriptedIn(messages[at]?.content ?? "");
  const { tag, version, kind } = scripted;
  const step = messages.slice(at).filter(({ role }) => role === "assistant").length;
  const calls = SCRIPTS[kind][step];
  if (calls === undefined) {
    return { scripted, answer: { content: `answer ${index} to ${tag} v${version}` } };
  }
  return {
    scripted,
    answer: {
      content: `step ${index} for ${tag} v${version}`,
      toolCalls: calls.map((wanted, place) => {
        const name = offered.includes(wanted) ? wanted : "list_files";
        const what = `${tag}/${step}.${place}`;
        return { id: `c${index}.${place}`, name, arguments: JSON.stringify(argsOf(name)) };
        function argsOf(tool: string): object {
          return tool === "pay"
            ? { what }
            : tool === "delegate"
              ? { persona: "assistant", task: `${childTag(tag)} v1 pay` }
              : { path: "." };
        }
      }),
    },
  };
}

/** The number of the request that an answer was given to; null if it is only the beginning of one. */
export function indexOf(content: string): number | null {
  const index = /^(?:step|answer) (\d+) (?:for|to) \S+ v\d+$/.exec(content)?.[1];
  return index === undefined ? null : Number(index);
}
