import type { ObjectNode, SourceNode } from "../../sources/source.ts";

export const DONE: ReadonlySet<string> = new Set(["done", "completed"]);
export const PUT_OFF: ReadonlySet<string> = new Set(["cancelled", "canceled", "deferred"]);
export const OPEN: ReadonlySet<string> = new Set(["pending", "in-progress", "review", "blocked"]);

/** Returns why a task or a subtask with a status is left out; null if it is open. */
export function reasonOf(status: string): string | null {
  if (DONE.has(status)) {
    return "done";
  }
  return PUT_OFF.has(status) ? status : null;
}

/** Returns a text without spaces around it, and an empty one for anything else. */
export function textIn(node: ObjectNode, name: string): string {
  const value = node.members.get(name)?.value;
  return value?.kind === "scalar" && typeof value.value === "string" ? value.value.trim() : "";
}

/** Returns an id: a number or a text, such as 3, "3" or "3.1". */
export function idIn(node: ObjectNode, name: string): string | null {
  const value = node.members.get(name)?.value;
  return value === undefined ? null : idOf(value);
}

/** Returns a number or a text as a text; null for an empty one and for anything else. */
export function idOf(node: SourceNode): string | null {
  if (node.kind !== "scalar") {
    return null;
  }
  const { value } = node;
  const text = typeof value === "number" || typeof value === "string" ? String(value).trim() : "";
  return text === "" ? null : text;
}

/** Returns the items of a list, and none if it is not one. */
export function itemsIn(node: ObjectNode, name: string): readonly SourceNode[] {
  const value = node.members.get(name)?.value;
  return value?.kind === "array" ? value.items : [];
}

/** Puts a label in front of a text that is not empty. */
export function labelled(label: string, text: string): string {
  return text === "" ? "" : `${label}: ${text}`;
}
