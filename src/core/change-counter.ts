/** Counts changes, and wakes those who wait for the next one. */
export class ChangeCounter {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** To be taken before a read: no change after it is missed. */
  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count += 1;
    for (const resume of this.#waiting) {
      resume();
    }
  }

  /** Resolves once the count is another one, or the signal is aborted. */
  changed(known: number, signal: AbortSignal): Promise<void> {
    if (known !== this.#count || signal.aborted) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const resume = (): void => {
        signal.removeEventListener("abort", resume);
        this.#waiting.delete(resume);
        resolve();
      };
      this.#waiting.add(resume);
      signal.addEventListener("abort", resume);
    });
  }
}
