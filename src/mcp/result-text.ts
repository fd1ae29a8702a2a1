import { visible } from "../core/text/terminal-text.ts";
import { storableText } from "../core/text/text.ts";

/** Characters of the beginning and of the end of a result that a model is given. */
const SHOWN = { head: 8 * 1024, tail: 24 * 1024 };
const MAX_BLOCKS = 1000;

/** A result of a server, unchecked. */
interface GivenResult {
  readonly content?: readonly unknown[] | undefined;
  readonly structuredContent?: unknown;
}

/**
 * Returns the result of a call as text: other parts are named, not sent. Structured content is used if there is no
 * text. Control characters are made visible, and the middle of a long result is left out.
 */
export function resultText({ content = [], structuredContent }: GivenResult): string {
  const blocks = content.slice(0, MAX_BLOCKS).map(blockText);
  const hasText = content.some((block) => memberOf(block, "type") === "text");
  const structured =
    structuredContent === undefined || hasText ? [] : [jsonText(structuredContent)];
  const left = content.length - blocks.length;
  const rest = left > 0 ? [`[${left.toLocaleString("en")} more parts were left out]`] : [];
  const text = [...blocks, ...structured, ...rest].join("\n\n");
  return text.trim() === "" ? "(no output)" : visible(storableText(cut(text)));
}

/** On one line: indented, a deep value would be many times as long. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "[structured content that is too deep to be shown]";
  }
}

function blockText(block: unknown): string {
  const type = memberOf(block, "type");
  const mime = textOf(block, "mimeType") ?? "unknown type";
  switch (type) {
    case "text":
      return textOf(block, "text") ?? "";
    case "image":
    case "audio":
      return `[${type}, ${mime}, ${sizeOf(textOf(block, "data") ?? "")}: not shown]`;
    case "resource_link":
      return `[resource ${textOf(block, "uri") ?? ""}${named(block)}]`;
    case "resource":
      return resourceText(memberOf(block, "resource"));
    default:
      return "[a part of an unknown kind]";
  }
}

function resourceText(resource: unknown): string {
  const uri = textOf(resource, "uri") ?? "";
  const text = textOf(resource, "text");
  if (text !== null) {
    return `[resource ${uri}]\n${text}`;
  }
  const mime = textOf(resource, "mimeType") ?? "unknown type";
  return `[resource ${uri}, ${mime}, ${sizeOf(textOf(resource, "blob") ?? "")}: not shown]`;
}

function named(block: unknown): string {
  const about = textOf(block, "title") ?? textOf(block, "name");
  return about === null ? "" : `: ${about}`;
}

/** Size of what a text in base64 holds. */
function sizeOf(base64: string): string {
  return `${Math.floor((base64.length * 3) / 4).toLocaleString("en")} bytes`;
}

function cut(text: string): string {
  const left = text.length - SHOWN.head - SHOWN.tail;
  if (left <= 0) {
    return text;
  }
  const note = `[${left.toLocaleString("en")} characters were left out here]`;
  return `${text.slice(0, SHOWN.head)}\n${note}\n${text.slice(-SHOWN.tail)}`;
}

function textOf(value: unknown, key: string): string | null {
  const text = memberOf(value, key);
  return typeof text === "string" ? text : null;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
