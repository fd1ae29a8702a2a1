import { AIMessage } from "@langchain/core/messages";

import { ProgramModel } from "./program-model.ts";

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** What a model does with a question: tool calls, one list after the other, then its answer. */
export type Script = readonly (readonly Call[] | string)[];

/** Follows the script of the last question that has one, whatever happened before. */
export function scriptModel(scripts: Readonly<Record<string, Script>>): ProgramModel {
  return new ProgramModel((messages) => {
    const asked = messages.findLastIndex(
      (message) => message.type === "human" && message.text in scripts,
    );
    const script = scripts[messages[asked]?.text ?? ""] ?? ["I have no script for this."];
    const done = messages.slice(asked + 1).filter(({ type }) => type === "ai").length;
    const turn = script[done] ?? "I said everything.";
    if (typeof turn === "string") {
      return new AIMessage(turn);
    }
    const tool_calls = turn.map((call, index) => ({ ...call, id: `${asked}.${done}.${index}` }));
    return new AIMessage({ content: "", tool_calls });
  });
}
