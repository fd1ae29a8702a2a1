import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";

import { threadId } from "../../../src/core/threads.ts";
import type { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { readPending } from "../../../src/store/records/messages/read.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";

type Saver = Pick<ReturnType<typeof createCheckpointSaver>, "put">;

/** What `put` takes and returns: the key of a checkpoint. */
export type Config = Parameters<Saver["put"]>[0];

/** The thread that the session's next exchange continues. */
export async function currentThread(store: Store, id: string): Promise<string> {
  return threadId(id, (await store.read(readSession, { id })).thread_suffix);
}

/** The session's pending messages as an exchange hands them to the agent. */
export async function pendingQuestions(store: Store, id: string): Promise<HumanMessage[]> {
  const pending = await store.read(readPending, { session_id: id });
  return pending.map(({ message_id, content }) => new HumanMessage({ id: message_id, content }));
}

/** Puts the checkpoint with these messages that follows another one, as the agent would. */
export function putMessages(
  saver: Saver,
  input: {
    readonly after: Config;
    readonly messages: readonly BaseMessage[];
    /** Higher than the one before. */
    readonly version: number;
    /** Values of other channels. */
    readonly others?: Readonly<Record<string, unknown>>;
  },
): Promise<Config> {
  const { after, messages, version, others = {} } = input;
  const values = { ...others, messages: [...messages] };
  const versions = Object.fromEntries(Object.keys(values).map((name) => [name, version]));
  return saver.put(
    after,
    { ...emptyCheckpoint(), channel_values: values, channel_versions: versions },
    { source: "loop", step: version, parents: {} },
    versions,
  );
}

/** Where a thread begins. */
export function startOf(thread_id: string): Config {
  return { configurable: { thread_id, checkpoint_ns: "" } };
}
