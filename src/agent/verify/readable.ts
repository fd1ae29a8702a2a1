import { textHash } from "../../store/checkpoints/bodies.ts";
import { isDamage } from "../../store/checkpoints/damage.ts";
import { MESSAGES } from "../../store/checkpoints/head-mark.ts";
import type { BodyRow, CheckpointPage, CheckpointRead } from "../../store/checkpoints/read.ts";
import { joinTemplate } from "../../store/checkpoints/template.ts";
import {
  at,
  LIST,
  MESSAGE,
  type StoredRef,
  type StoredValue,
} from "../../store/checkpoints/value.ts";
import { unchangedMessage } from "./checkpoint-messages.ts";

/**
 * True if the next exchange can read all that a checkpoint holds besides its messages: versions,
 * the other channels, what its tasks have written.
 */
export function isReadable(
  { checkpoints: [read], bodies, lists }: CheckpointPage,
  { shape_hash }: { readonly shape_hash: string },
): boolean {
  if (read === undefined || textHash(read.shape) !== shape_hash) {
    return false;
  }
  if (bodies.some(({ body, hash }) => textHash(body) !== hash)) {
    return false;
  }
  const known: Known = {
    bodies: new Map(bodies.map((body) => [body.id, body])),
    lists: new Map(lists.map(({ list, items }) => [list, items])),
  };
  try {
    return valuesOf(read).every((value) => isValue(value, known));
  } catch (error) {
    if (isDamage(error)) {
      return false;
    }
    throw error;
  }
}

interface Known {
  readonly bodies: ReadonlyMap<number, BodyRow>;
  readonly lists: ReadonlyMap<number, readonly BodyRow[]>;
}

/** Throws what `isDamage` knows, where versions and template do not fit together. */
function valuesOf({ shape, versions, ...read }: CheckpointRead): StoredValue[] {
  const { [MESSAGES]: _, ...channels } = read.channels;
  const template = joinTemplate({ shape, numbers: versions });
  const tasks = template.versions.v < 4 ? [...read.writes, ...read.parent_writes] : read.writes;
  return [
    ...Object.values(template.untouched).map((json): StoredValue => [json]),
    ...Object.values(channels),
    read.metadata,
    ...tasks.flatMap(({ writes }) => writes.map(([, , value]) => value)),
  ];
}

function isValue(value: StoredValue, known: Known): boolean {
  if ("l" in value) {
    return isRef(value.l, known);
  }
  const [json, refs = []]: readonly [unknown, (readonly StoredRef[])?] =
    "b" in value ? [JSON.parse(bodyOf(value.b, known).body), value.r] : value;
  return areKnown(json, (index) => isRef(at(refs, index), known));
}

function areKnown(json: unknown, isKnown: (index: number) => boolean): boolean {
  if (typeof json !== "object" || json === null) {
    return true;
  }
  return MESSAGE in json || LIST in json
    ? isKnown(Number(Reflect.get(json, MESSAGE in json ? MESSAGE : LIST)))
    : Object.values(json).every((member) => areKnown(member, isKnown));
}

function isRef(ref: StoredRef, known: Known): boolean {
  if (typeof ref === "number") {
    return unchangedMessage(bodyOf(ref, known)) !== null;
  }
  const [list, length] = ref;
  const items = known.lists.get(list)?.slice(0, length);
  return items?.length === length && items.every((item) => unchangedMessage(item) !== null);
}

function bodyOf(id: number, { bodies }: Known): BodyRow {
  const body = bodies.get(id);
  if (body === undefined) {
    throw new RangeError("a checkpoint refers to a body that was not read with it");
  }
  return body;
}
