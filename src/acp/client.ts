import type {
  AgentContext,
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";

import { oneLine } from "../core/text/terminal-text.ts";
import type { ClientFacts } from "./initialize.ts";

/** The editor, as a session uses it. Once it is gone nothing is sent, and questions get no answer. */
export class Client {
  readonly #context: AgentContext;
  readonly #facts: () => ClientFacts;

  constructor(context: AgentContext, facts: () => ClientFacts) {
    this.#context = context;
    this.#facts = facts;
  }

  get facts(): ClientFacts {
    return this.#facts();
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    await this.#context.notify("session/update", { sessionId, update }).catch(() => undefined);
  }

  /** Shows a sentence that is not part of the conversation. */
  notice(sessionId: string, sentence: string): Promise<void> {
    return this.update(sessionId, this.noticeOf(sentence));
  }

  /** The update that shows such a sentence. */
  noticeOf(sentence: string): SessionUpdate {
    const title = oneLine(sentence);
    return this.facts.notices
      ? { sessionUpdate: "notice", severity: "info", title }
      : { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `${title}\n` } };
  }

  /** Null if nobody answers: the client is gone, cannot ask, or the question has ended. */
  askPermission(
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionResponse | null> {
    return this.#context
      .request("session/request_permission", request, waiting(signal))
      .catch(() => null);
  }

  /** As `askPermission`, with a form. */
  askForm(
    request: CreateElicitationRequest,
    signal: AbortSignal,
  ): Promise<CreateElicitationResponse | null> {
    return this.#context.request("elicitation/create", request, waiting(signal)).catch(() => null);
  }
}

function waiting(cancellationSignal: AbortSignal) {
  return { cancellationSignal, stopWaitingOnCancel: true };
}
