import { type Static, Type } from "typebox";

import { closed, nullable, text } from "../../core/schemas/field-schemas.ts";
import { count, exportFields } from "./portable-fields.ts";

/** A StoredValue (`checkpoints/value.ts`) with positions instead of ids; `mapIds` reads it. */
const value = () => Type.Unknown();

const PortableList = Type.Object(
  {
    /** The place of an earlier list whose first `base_length` items come first. */
    base: nullable(count()),
    base_length: count(),
    /** Places of bodies. */
    items: Type.Array(count()),
  },
  closed,
);
export type PortableList = Static<typeof PortableList>;

const PortableCheckpoint = Type.Object(
  {
    ns: text(),
    checkpoint_id: text(),
    parent_id: nullable(text()),
    ts: text(),
    /** Place of a body. */
    shape: count(),
    versions: text(),
    channels: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
    metadata: value(),
  },
  closed,
);
export type PortableCheckpoint = Static<typeof PortableCheckpoint>;

const PortableWrites = Type.Object(
  {
    ns: text(),
    checkpoint_id: text(),
    task_id: text(),
    /** [index, channel, value, path], ascending by index; the path only if there is one. */
    writes: Type.Array(Type.Array(Type.Unknown(), { minItems: 3, maxItems: 4 })),
  },
  closed,
);
export type PortableWrites = Static<typeof PortableWrites>;

const threadFields = {
  bodies: Type.Array(text()),
  lists: Type.Array(PortableList),
  /** In the order in which they were stored: the last one is the latest. */
  checkpoints: Type.Array(PortableCheckpoint),
  writes: Type.Array(PortableWrites),
  /** How many of each, from the first on, existed when the thread was last pruned. */
  folded: Type.Object({ checkpoints: count(), bodies: count(), lists: count() }, closed),
} as const;

const ThreadContent = Type.Object(threadFields, closed);
/** Content of a thread, under whatever id. */
export type ThreadContent = Static<typeof ThreadContent>;
/** A thread without a session. */
export interface FreeThread extends ThreadContent {
  readonly thread_id: string;
}

/** The format of a free thread outside of any database. */
export const THREAD_FORMAT = "reprise/thread@1";

export const ThreadExport = Type.Object(
  { ...exportFields(THREAD_FORMAT), thread_id: text(), ...threadFields },
  closed,
);
export type ThreadExport = Static<typeof ThreadExport>;

/** Content of a thread without the texts, which it names by their positions. */
export type ThreadStructure = Omit<ThreadContent, "bodies">;

export const PortableThread = Type.Object({ suffix: count(), ...threadFields }, closed);
export type PortableThread = Static<typeof PortableThread>;
