import type { Script } from "../../helpers/providers/server.ts";
import { sentRequest } from "../../helpers/providers/sent-messages.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { isSummaryRequest } from "./requests.ts";
import { TASK } from "./witness.ts";

/** What happens in the middle of the next answer. */
export type Way = "stop" | "break" | null;

/**
 * A model that thinks before each block. The first word of the user's last message says what it does: `call`,
 * `calls` (one after the other) and `delegate` are calls of tools, and anything else an answer.
 */
export class ScriptedThoughts {
  /** Counts for the next answer alone. */
  way: Way = null;
  /** Called in the middle of an answer that is stopped; the rest comes after it. */
  onStop: () => void | Promise<void> = () => undefined;
  /** Of all lives: a provider's mock knows an answer by its text. */
  static #calls = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Answers a provider. `idOf` makes the ids of its calls, if they have another form. */
  answer(
    body: Parameters<Script>[1],
    received: Parameters<Script>[2],
    {
      thinks = true,
      idOf,
    }: { readonly thinks?: boolean; readonly idOf?: (n: number) => string } = {},
  ): readonly Step[] {
    if (isSummaryRequest(body)) {
      return [text("SUMMARY")];
    }
    const thought = thinks ? [reasoning(this.#thought())] : [];
    const { messages } = sentRequest(received);
    // a process stops at half of an answer of the session itself, and a sub-agent's would hang
    const isHeard = this.way !== "stop" || messages[0]?.content?.startsWith(TASK) !== true;
    const way = isHeard ? this.way : null;
    if (way !== null) {
      this.way = null;
      return [...thought, text("half"), ...this.#broken(way)];
    }
    const at = messages.findLastIndex(({ role }) => role === "user");
    const [kind] = (messages[at]?.content ?? "").split(" ");
    const rounds = messages.slice(at).filter(({ tool_calls }) => tool_calls !== undefined).length;
    ScriptedThoughts.#calls += 1;
    const steps = rounds < (ROUNDS[kind ?? ""] ?? 0) ? this.#work(kind === "delegate") : null;
    return steps === null
      ? [...thought, text(`answer ${ScriptedThoughts.#calls}`)]
      : steps.flatMap((step, index) => [
          ...(thinks && index > 0 ? [reasoning("And. ")] : thought),
          idOf === undefined || step.kind !== "call"
            ? step
            : { ...step, id: idOf(ScriptedThoughts.#calls + index / 10) },
        ]);
  }

  #thought(): string {
    const words = ["", "Hm. ", "“ü” 🙂 "][Math.floor(this.#random() * 3)] ?? "";
    return words.repeat(1 + Math.floor(this.#random() * 3));
  }

  #broken(way: "stop" | "break"): readonly Step[] {
    return way === "break"
      ? [{ kind: "drop" }]
      : [{ kind: "wait", until: async () => this.onStop() }, text(" an answer")];
  }

  #work(delegates: boolean): readonly Step[] {
    const n = ScriptedThoughts.#calls;
    return delegates
      ? [
          call("delegate", { persona: "assistant", task: `${TASK} ${n}` }),
          call("list_files", { path: "." }),
        ]
      : [call("list_files", { path: "." }), call("write_file", { path: `f${n}`, content: `${n}` })];
  }
}

/** Answers with calls before the last one. */
const ROUNDS: Readonly<Record<string, number>> = { call: 1, calls: 2, delegate: 1 };
