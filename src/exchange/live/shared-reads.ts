/** Reads that several ask for. Those who ask for the same before its read has begun share it. */
export class SharedReads<Output> {
  readonly #notBegun = new Map<string, Promise<Output>>();

  /**
   * `start` calls `begun` when its read sees the database: from then on it sees one moment, and who asks later may have
   * heard of a later one.
   */
  read(key: string, start: (begun: () => void) => Promise<Output>): Promise<Output> {
    const shared = this.#notBegun.get(key);
    if (shared !== undefined) {
      return shared;
    }
    const over = (): void => {
      if (this.#notBegun.get(key) === read) {
        this.#notBegun.delete(key);
      }
    };
    const read = start(over).finally(over);
    this.#notBegun.set(key, read);
    return read;
  }
}
