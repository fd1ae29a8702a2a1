import { BaseMessage } from "@langchain/core/messages";

/** Ids, hashes and times: they differ from run to run. */
const RANDOM =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|\bsession_[0-9a-f]{8}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** What of a config names a checkpoint; the rest are objects of the running graph. */
const CONFIGURABLE = ["thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map"];

/** Ours gives a message its id when it is first stored, MemorySaver only in the channel. */
const BEFORE_THE_CHANNEL = new Set(["updates", "tasks", "pendingWrites", "result", "__start__"]);

export function withoutRandom(text: string): string {
  return text.replace(RANDOM, "");
}

/**
 * Makes plain data of states and streams, the same for the same behaviour: what is random in them
 * is numbered as it first appears.
 */
export class PlainStates {
  readonly #names = new Map<string, string>();

  of(value: unknown, hasIds = true): unknown {
    if (typeof value === "string") {
      return this.#text(value);
    }
    if (typeof value !== "object" || value === null) {
      return value === undefined || typeof value === "function" ? `<${typeof value}>` : value;
    }
    if (BaseMessage.isInstance(value)) {
      const { type, data } = value.toDict();
      const id = hasIds ? value.id : "<id>";
      return { class: value.constructor.name, type, data: this.of({ ...data, id }, hasIds) };
    }
    if (value instanceof Error) {
      return { error: value.name, message: this.#text(value.message) };
    }
    if (value instanceof Map || value instanceof Set) {
      return { [value.constructor.name]: this.of([...value], hasIds) };
    }
    if (value instanceof Uint8Array) {
      return { bytes: [...value] };
    }
    if (Array.isArray(value)) {
      const isEarly = value.some((item) => BEFORE_THE_CHANNEL.has(item as string));
      return value.map((item) => this.of(item, hasIds && !isEarly));
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, member]: [string, unknown]) => [
        this.#text(key),
        this.#member(key, member, hasIds),
      ]),
    );
  }

  #member(key: string, member: unknown, hasIds: boolean): unknown {
    switch (key) {
      case "callbacks":
        return "<callbacks>";
      case "configurable":
        return CONFIGURABLE.map((name) => this.of(Reflect.get(Object(member), name)));
      default:
        return this.of(member, hasIds && !BEFORE_THE_CHANNEL.has(key));
    }
  }

  #text(text: string): string {
    return text.replace(RANDOM, (random) => {
      if (random.endsWith("Z")) {
        return "<time>";
      }
      const name = this.#names.get(random) ?? `#${this.#names.size}`;
      this.#names.set(random, name);
      return name;
    });
  }
}
