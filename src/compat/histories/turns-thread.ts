import { splitTemplate } from "../../store/checkpoints/template.ts";
import type { PortableMessage } from "../../store/portable/export-schema.ts";
import type { PortableCheckpoint, PortableThread } from "../../store/portable/portable-threads.ts";

/**
 * Makes a thread with a checkpoint at the end of each turn, where a fork may begin. All have one list of messages and one
 * shape. Nothing is left to do after the last one.
 */
export function turnsThread(
  bodies: readonly string[],
  messages: readonly PortableMessage[],
): PortableThread {
  const shape = shapeAt(0).shape;
  const checkpoints = turnEnds(messages).map(({ seq, ts }, turn): PortableCheckpoint => {
    return {
      ns: "",
      checkpoint_id: checkpointId(turn),
      parent_id: turn === 0 ? null : checkpointId(turn - 1),
      ts,
      shape: bodies.length,
      versions: shapeAt(turn + 1).numbers,
      channels: { messages: { l: [0, seq] } },
      metadata: [{ source: "update", step: turn, parents: {} }],
    };
  });
  return {
    suffix: 0,
    bodies: [...bodies, shape],
    lists: [{ base: null, base_length: 0, items: bodies.map((_, at) => at) }],
    checkpoints,
    writes: [],
    folded: { checkpoints: checkpoints.length, bodies: bodies.length + 1, lists: 1 },
  };
}

function shapeAt(version: number): { readonly shape: string; readonly numbers: string } {
  return splitTemplate({
    versions: { v: 4, channel_versions: { messages: version }, versions_seen: {} },
    untouched: {},
  });
}

/** Messages after which nothing of a turn is left: the last one, and those before a person's that are not a person's. */
function turnEnds(messages: readonly PortableMessage[]): readonly PortableMessage[] {
  return messages.filter((message, at) => {
    const next = messages[at + 1];
    return (
      next === undefined ||
      (next.role === "user" && message.role !== "user") ||
      (next.is_summary && isAnswered(message))
    );
  });
}

/** True for an answer that calls for nothing. */
function isAnswered({ role, tool_calls }: PortableMessage): boolean {
  return role === "assistant" && (tool_calls ?? []).length === 0;
}

/** Id of the checkpoint of a turn, from 0: each is after those before, and time-ordered ids are after all. */
function checkpointId(turn: number): string {
  return `00000000-0000-6000-8000-${(turn + 1).toString(16).padStart(12, "0")}`;
}
