import type { SessionConfigOption, SessionUpdate } from "@agentclientprotocol/sdk/unstable";

import { dollarsOf } from "../core/cost/money.ts";
import { titleLine } from "../core/text/terminal-text.ts";
import { configOptions, type OptionSource, setConfigOption } from "./config-options.ts";

/** Shows what an editor has of a session beside its conversation: title, usage and options. What is known is not sent again. */
export class SessionFacts {
  readonly #source: OptionSource;
  readonly #send: (update: SessionUpdate) => Promise<void>;
  #title: string | null = null;
  #usage: string | null = null;
  #known: string | null = null;

  constructor(source: OptionSource, send: (update: SessionUpdate) => Promise<void>) {
    this.#source = source;
    this.#send = send;
  }

  /** Sends what has changed. */
  async show(): Promise<void> {
    await this.showTitle();
    await this.showUsage();
    await this.#showOptions();
  }

  /** Error codes: as `setConfigOption`. */
  async setOption(choice: {
    readonly id: string;
    readonly value: unknown;
  }): Promise<SessionConfigOption[]> {
    await this.#source.conversation.refresh();
    await setConfigOption(this.#source, choice);
    return this.options();
  }

  /** Sends the title, if it is another one. */
  async showTitle(): Promise<void> {
    const session = await this.#source.conversation.refresh();
    const title = session?.title === null || session === null ? null : titleLine(session);
    if (session !== null && title !== null && title !== this.#title) {
      this.#title = title;
      await this.#send({
        sessionUpdate: "session_info_update",
        title,
        updatedAt: session.last_message_at ?? session.created_at,
      });
    }
  }

  /** Sends how much of the context is used, and what the session has cost. */
  async showUsage(): Promise<void> {
    const use = await this.#source.conversation.contextUse();
    const micros = (await this.#source.conversation.cost())?.tree.cost_micros ?? null;
    const shown = JSON.stringify([use, micros]);
    if (use !== null && shown !== this.#usage) {
      this.#usage = shown;
      await this.#send({
        sessionUpdate: "usage_update",
        used: use.tokens,
        size: use.window,
        ...(micros === null ? {} : { cost: { amount: dollarsOf(micros), currency: "USD" } }),
      });
    }
  }

  /** Reads the options for an answer: the client knows them then. */
  async options(): Promise<SessionConfigOption[]> {
    const options = await configOptions(this.#source);
    this.#known = JSON.stringify(options);
    return options;
  }

  /** Sends options that another program has changed. */
  async #showOptions(): Promise<void> {
    const known = this.#known;
    const configOptions = await this.options();
    if (this.#known !== known) {
      await this.#send({
        sessionUpdate: "config_option_update",
        configOptions,
      });
    }
  }
}
