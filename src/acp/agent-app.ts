import {
  agent,
  type ContentBlock,
  type PromptResponse,
  type Stream,
} from "@agentclientprotocol/sdk/unstable";

import { Client } from "./client.ts";
import type { EditorSession } from "./editor-session.ts";
import { EditorSessions } from "./editor-sessions.ts";
import { answered } from "./errors.ts";
import type { EditorHost } from "./host.ts";
import type { ClientFacts } from "./initialize.ts";
import { promptText } from "./prompt-text.ts";

/** A connection whose requests are answered. */
export interface EditorConnection {
  /** Stops all that runs, waits for it, and closes the database. */
  end(): Promise<void>;
}

/** Answers the requests of an editor after `initialize`. This module loads the SDK. */
export function connectEditor(
  stream: Stream,
  { host, facts }: { readonly host: EditorHost; readonly facts: () => ClientFacts },
): EditorConnection {
  const client = Promise.withResolvers<Client>();
  const sessions = new EditorSessions(host, () => client.promise);
  const requests = new Set<Promise<unknown>>();
  const run = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const request = answered((error) => void host.logFailure(error), work);
    requests.add(request);
    try {
      return await request;
    } finally {
      requests.delete(request);
    }
  };
  const connection = agent({ name: "reprise" })
    .onConnect((context) => client.resolve(new Client(context.client, facts)))
    .onRequest("session/new", ({ params }) => run(() => sessions.create(params)))
    .onRequest("session/load", ({ params }) =>
      run(() => sessions.load(params, { replays: true }).then(withoutId)),
    )
    .onRequest("session/resume", ({ params }) =>
      run(() => sessions.load(params, { replays: false }).then(withoutId)),
    )
    .onRequest("session/fork", ({ params }) => run(() => sessions.fork(params)))
    .onRequest("session/list", ({ params }) => run(() => sessions.list(params)))
    .onRequest("session/close", ({ params }) =>
      run(() => sessions.close(params.sessionId).then(() => ({}))),
    )
    .onRequest("session/delete", ({ params }) =>
      run(() => sessions.delete(params.sessionId).then(() => ({}))),
    )
    .onRequest("session/set_config_option", ({ params }) =>
      run(async () => {
        const { sessionId, configId: id, value } = params;
        return { configOptions: await sessions.opened(sessionId).setOption({ id, value }) };
      }),
    )
    .onRequest("session/prompt", ({ params, signal }) =>
      run(() => prompt(sessions.opened(params.sessionId), params.prompt, signal)),
    )
    .onNotification("session/cancel", ({ params }) => sessions.cancel(params.sessionId))
    .onRequest("authenticate", ({ params }) =>
      run(() => sessions.authenticate(params.methodId).then(() => ({}))),
    )
    .connect(stream);
  return {
    end: async () => {
      await sessions.stop();
      await Promise.allSettled(requests);
      await sessions.end();
      connection.close();
    },
  };
}

/** `signal` is aborted when the client takes its request back. */
async function prompt(
  session: EditorSession,
  blocks: readonly ContentBlock[],
  signal: AbortSignal,
): Promise<PromptResponse> {
  const cancel = (): void => session.cancel();
  signal.addEventListener("abort", cancel);
  try {
    return await session.prompt(promptText(blocks));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function withoutId<Rest extends object>({
  sessionId: _,
  ...rest
}: Rest & { readonly sessionId: string }) {
  return rest;
}
