import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

/** A chat model that is a program: what it answers follows from what it is sent. */
export class ProgramModel extends BaseChatModel {
  readonly #answer: (messages: readonly BaseMessage[]) => AIMessage;

  constructor(answer: (messages: readonly BaseMessage[]) => AIMessage) {
    super({});
    this.#answer = answer;
  }

  override _llmType(): string {
    return "program";
  }

  override bindTools(): this {
    return this;
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.#answer(messages);
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }
}
