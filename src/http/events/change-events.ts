import type { ChangePosition, ChangesPage } from "../../store/records/changes/read-changes.ts";

/** The events of a page as they are sent; null if there is none. */
export function bytesOf({ changes, position, isReset }: ChangesPage): Buffer | null {
  if (isReset) {
    return Buffer.from(event(position, "reset", "{}"));
  }
  if (changes.length === 0) {
    return null;
  }
  const texts = changes.map(({ kind, json }, index) => {
    // all with lower numbers than the next one have been sent
    const at = Math.min(changes[index + 1]?.at ?? position.at, position.at);
    return event({ ...position, at }, kind, json);
  });
  return Buffer.from(texts.join(""));
}

/** This JSON has no line breaks, so one `data` line holds it. */
function event(position: ChangePosition, name: string, json: string): string {
  return `id: ${writeChangePosition(position)}\nevent: ${name}\ndata: ${json}\n\n`;
}

function writeChangePosition({ numbers, at }: ChangePosition): string {
  return `${numbers}-${at}`;
}

/** Null for what no event can have had. */
export function readChangePosition(text: string): ChangePosition | null {
  const [, numbers, at] = /^([0-9a-f]{8})-(0|[1-9]\d{0,14})$/.exec(text) ?? [];
  return numbers === undefined ? null : { numbers, at: Number(at) };
}
