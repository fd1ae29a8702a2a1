import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";

/** What a framework keeps: here plain fields. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined = undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

class PlainChat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>, messages: UIMessage[] = []) {
    const state = new PlainState();
    state.messages = messages;
    super({ ...init, state });
  }
}

/** A chat of the package `ai` on a session, as docs/clients.md shows it. */
export function openChat(
  { url, id, token }: { readonly url: string; readonly id: string; readonly token: string },
  messages?: UIMessage[],
  send = fetch,
) {
  const api = `${url}/api/sessions/${id}/ui/ai-sdk`;
  return new PlainChat(
    {
      id,
      transport: new DefaultChatTransport({
        api,
        fetch: send,
        headers: { authorization: `Bearer ${token}` },
        // the session has the messages before
        prepareSendMessagesRequest: ({ messages: all, trigger }) => ({
          body: { messages: all.slice(-1), trigger },
        }),
        prepareReconnectToStreamRequest: () => ({ api }),
      }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    },
    messages,
  );
}

/** The texts of a message, with `|` between two parts. */
export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? [])
    .flatMap((part) => (part.type === "text" ? part.text : []))
    .join("|");
}
