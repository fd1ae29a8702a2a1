import type { LiveReasoning } from "../../core/live/live-state.ts";
import type { LiveEvent } from "../../core/schemas/live.ts";

/** Reads what is new of a model's reasoning from a live feed, each piece once: a connection begins with all of it. */
export class ReasoningPieces {
  #read: LiveReasoning | null = null;

  /** The piece that an event adds, which may be empty; null if it adds none. */
  of({ event, data }: LiveEvent): LiveReasoning | null {
    if (event === "reasoning") {
      return this.#add(data);
    }
    const whole = event === "snapshot" ? data.reasoning : null;
    const before = this.#read;
    if (whole === null || before?.message_id !== whole.message_id) {
      return whole === null ? null : this.#add(whole);
    }
    const isLonger = whole.text.length > before.text.length && whole.text.startsWith(before.text);
    return isLonger ? this.#add({ ...whole, text: whole.text.slice(before.text.length) }) : null;
  }

  #add(piece: LiveReasoning): LiveReasoning {
    const { message_id, text } = piece;
    const before = this.#read?.message_id === message_id ? this.#read.text : "";
    this.#read = { message_id, text: before + text };
    return piece;
  }
}
