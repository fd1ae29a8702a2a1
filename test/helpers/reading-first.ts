import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";

import type { KnownFiles } from "../../src/agent/known-files.ts";

type Call = (name: string, args: object) => Promise<string>;

/** Calls tools as a model does that reads every file before it changes it; each call is a separate answer. */
export function readingFirst(tools: readonly StructuredToolInterface[], known: KnownFiles): Call {
  const call = callsAsModel(tools, known);
  return async (name, args) => {
    for (const path of pathsOf(name, args)) {
      await call("read_file", { path });
    }
    return call(name, args);
  };
}

/** Calls tools as a model does, which is sent the result of each call before it makes the next. */
export function callsAsModel(tools: readonly StructuredToolInterface[], known: KnownFiles): Call {
  const messages: BaseMessage[] = [];
  return async (name, args) => {
    const id = `call-${messages.length}`;
    const found = tools.find((tool) => tool.name === name);
    if (found === undefined) {
      throw new Error(`no tool ${name}`);
    }
    const call = { type: "tool_call" as const, id, name, args: { ...args } };
    const result: unknown = await found.invoke(call);
    if (!ToolMessage.isInstance(result)) {
      throw new Error("no result");
    }
    messages.push(new AIMessage({ content: "", tool_calls: [call] }), result);
    known.modelSees(messages);
    return result.text;
  };
}

const PATCHED = /^\*\*\* (?:Update|Delete) File: (.+)$/gm;

function pathsOf(name: string, args: object): readonly string[] {
  const { path, edits, patch } = { path: null, edits: [], patch: "", ...args };
  switch (name) {
    case "write_file":
    case "edit_file":
      return [String(path)];
    case "multi_edit":
      return edits.map((edit: { readonly path: string }) => edit.path);
    case "apply_patch":
      return [...patch.matchAll(PATCHED)].map(([, each]) => each ?? "");
    default:
      return [];
  }
}
