import type { BaseMessage } from "@langchain/core/messages";

import { bodyText, hashOf } from "./body.ts";
import { clonePlain, isPlain, samePlain } from "./plain.ts";

/** What a message was when its hash was taken, part by part. */
export interface Print {
  readonly hash: string;
  readonly made: unknown;
  readonly fields: readonly (readonly [key: string, value: unknown])[];
}

export interface MessageHashes {
  /** The hash of the message's body as the message is now. */
  hashOf(message: BaseMessage): string;
  /** Takes note that a message just revived has this print. */
  note(message: BaseMessage, print: Print): void;
  /** The print of a message whose body has the given hash; null where it cannot be watched. */
  printOf(message: BaseMessage, hash: string): Print | null;
}

/**
 * Remembers the hashes of messages, so that a checkpoint of 2,000 messages does not write 2,000
 * bodies to find one new. Messages are changed in place now and then (the reducer sets ids,
 * middleware touches contents), so each is compared with what it was, part by part; a comparison
 * costs a tenth of a microsecond or so, because the texts are the same ones.
 */
export function createMessageHashes(): MessageHashes {
  const prints = new WeakMap<BaseMessage, Print>();

  return {
    hashOf: (message) => {
      const print = prints.get(message);
      if (print !== undefined && isUnchanged(message, print)) {
        return print.hash;
      }
      const hash = hashOf(bodyText(message));
      const fresh = printOf(message, hash);
      if (fresh === null) {
        prints.delete(message);
      } else {
        prints.set(message, fresh);
      }
      return hash;
    },
    note: (message, print) => {
      prints.set(message, print);
    },
    printOf,
  };
}

function printOf(message: BaseMessage, hash: string): Print | null {
  const fields = Object.keys(message.lc_kwargs).map((key) => [key, fieldOf(message, key)] as const);
  return fields.every(([, value]) => isPlain(value))
    ? {
        hash,
        made: message.constructor,
        fields: fields.map(([key, value]) => [key, clonePlain(value)] as const),
      }
    : null;
}

function isUnchanged(message: BaseMessage, print: Print): boolean {
  let count = 0;
  for (const _ in message.lc_kwargs) {
    count += 1;
  }
  return (
    count === print.fields.length &&
    message.constructor === print.made &&
    print.fields.every(
      ([key, value]) => key in message.lc_kwargs && samePlain(fieldOf(message, key), value),
    )
  );
}

/** What `toJSON` would write of a field: the property where there is one, else what was given. */
function fieldOf(message: BaseMessage, key: string): unknown {
  return key in message ? Reflect.get(message, key) : message.lc_kwargs[key];
}
