import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, file: Annotation<string>() });

const say = (text: string) => ({ messages: [new AIMessage(text)] });

/** A graph that answers with its last message and its file; `special` runs only if a Command says so. */
export function statefulGraph() {
  return new StateGraph(State)
    .addNode("model", ({ messages, file }) => say(`${messages.at(-1)?.text}|${file}`), {
      ends: ["special", "sent"],
    })
    .addNode("special", ({ file }) => say(`special ${file}`))
    .addNode("sent", ({ file }) => say(`sent ${file}`))
    .addEdge(START, "model")
    .compile();
}

/** Inputs of which a row in `messages` holds less than all; those that differ most come first. */
export const INPUTS = {
  "messages and values": () => ({ messages: [new HumanMessage("read")], file: "a.pdf" }),
  "a Command that sends": () => new Command({ goto: [new Send("sent", { file: "d.pdf" })] }),
  "a text and values": () => ({ messages: "skim", file: "f.pdf" }),
  "values alone": () => ({ file: "b.pdf" }),
  "a client's result": () => new ToolMessage({ content: "42", tool_call_id: "c1" }),
  "a message with parts": () =>
    new HumanMessage({
      content: [
        { type: "text", text: "see" },
        { type: "text", text: "this" },
      ],
    }),
  "a Command that chooses a node": () =>
    new Command({ goto: "special", update: { file: "c.pdf" } }),
};

export type InputName = keyof typeof INPUTS;

/** What the graph answers to them. */
export const ANSWERS: Readonly<Record<InputName, RegExp>> = {
  "messages and values": /^read\|a\.pdf$/,
  "a text and values": /^skim\|f\.pdf$/,
  "values alone": /\|b\.pdf$/,
  "a client's result": /^42\|undefined$/,
  "a message with parts": /^seethis\|undefined$/,
  "a Command that chooses a node": /^special c\.pdf$/,
  "a Command that sends": /^sent d\.pdf$/,
};
