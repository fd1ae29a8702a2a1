import { ToolMessage } from "@langchain/core/messages";

import type { Conceal } from "../../core/secrets.ts";

/** The result of a call as it may be stored and shown: secrets are replaced, wherever in it they are. */
export function concealResult(result: ToolMessage, conceal: Conceal): ToolMessage {
  const { id, name, tool_call_id, status, additional_kwargs, response_metadata } = result;
  const artifact: unknown = result.artifact;
  const content = concealContent(result.content, conceal);
  if (content === result.content && artifact === undefined) {
    return result;
  }
  return new ToolMessage({
    content,
    tool_call_id,
    additional_kwargs,
    response_metadata,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    ...(artifact === undefined ? {} : { artifact: concealIn(artifact, conceal) }),
  });
}

type Content = ToolMessage["content"];

function concealContent(content: Content, conceal: Conceal): Content {
  if (typeof content === "string") {
    return conceal(content);
  }
  const blocks = concealIn(content, conceal);
  const text = blocks.map(textOf).join("");
  const whole = conceal(text);
  // a secret that begins in one block and ends in another
  return whole === text
    ? blocks
    : [{ type: "text", text: whole }, ...blocks.filter(({ type }) => type !== "text")];
}

function textOf(block: Exclude<Content, string>[number]): string {
  return block.type === "text" && typeof block.text === "string" ? block.text : "";
}

/** Of values as JSON has them; others are unchanged. */
function concealIn<Value>(value: Value, conceal: Conceal): Value;
function concealIn(value: unknown, conceal: Conceal): unknown {
  if (typeof value === "string") {
    return conceal(value);
  }
  if (Array.isArray(value)) {
    return value.map((each: unknown) => concealIn(each, conceal));
  }
  if (typeof value === "object" && value !== null && isPlain(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [conceal(name), concealIn(each, conceal)]),
    );
  }
  return value;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
