import type { AIMessage } from "@langchain/core/messages";

import { countOf } from "../../store/records/messages/mirror-row.ts";

/** Tokens of an exchange below which nobody is bothered with what they cost. */
const MIN_TOKENS = 50_000;

/** Counts what the calls of an exchange sent, and what of it the provider had in its cache. */
export class CacheUse {
  #sent = 0;
  #read = 0;
  #isReported = false;

  add({ usage_metadata: usage }: Pick<AIMessage, "usage_metadata">): void {
    const sent = countOf(usage?.input_tokens);
    const read = countOf(usage?.input_token_details?.cache_read);
    // a provider that reports no cache may have none
    if (sent !== null && read !== null) {
      this.#sent += sent;
      this.#read += read;
    }
  }

  /** Returns a sentence for a person, once, if less than half of a large exchange came from the cache. */
  takeSentence(): string | null {
    if (this.#isReported || this.#sent <= MIN_TOKENS || this.#read * 2 >= this.#sent) {
      return null;
    }
    this.#isReported = true;
    const [read, sent] = [this.#read, this.#sent].map((count) => count.toLocaleString("en"));
    return `Of the ${sent} tokens that this exchange sent, the provider's cache had ${read}, so it cost more than usual. The cache is empty after a pause or a change of the model.`;
  }
}
