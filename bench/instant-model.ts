import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

/** A chat model that answers at once, from what it was sent alone. */
export class InstantModel extends BaseChatModel {
  readonly #answer: (messages: readonly BaseMessage[]) => string | AIMessage;

  constructor(answer: (messages: readonly BaseMessage[]) => string | AIMessage) {
    super({});
    this.#answer = answer;
  }

  override _llmType(): string {
    return "instant";
  }

  /** An agent binds its tools whether it has any or not. */
  override bindTools(): this {
    return this;
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const answer = this.#answer(messages);
    const message = typeof answer === "string" ? new AIMessage(answer) : answer;
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }
}
